// A database in memory, and an engine that only remembers what it was asked: for tests of the HTTP layer alone.

import { memoryPlatform } from '../bundles/apply/platform.fake.ts'
import { memoryStore } from '../bundles/apply/store.fake.ts'
import type { Engine } from '../bundles/engine.ts'
import type { Plan } from '../bundles/model/plan.ts'
import type { Stack } from '../bundles/model/stack.ts'
import type { ApplyAnswer } from '../bundles/request.ts'
import { settingsProblems } from '../bundles/stacks/settings.ts'
import type { Clock } from '../lib/clock.ts'
import { ProblemsError, RefusedError } from '../lib/errors.ts'
import type { Kind } from '../resources/kind.ts'
import type { AuditEntry, Database, FeedEvent, Token } from './ports.ts'

export interface MemoryDatabase extends Database {
  readonly auditEntries: AuditEntry[]
  /** As a commit would. */
  commit(event: Partial<FeedEvent>): void
  /** Events up to this one are no longer kept. */
  forgetFeed(upTo: number): void
  /** Every call of the feed's `since`. */
  readonly feedReads: number
  fails: Error | null
}

export function memoryDatabase({ kinds, clock }: { kinds: readonly Kind[]; clock: Clock }): MemoryDatabase {
  const platform = memoryPlatform({ kinds, transaction: 'shared', clientIds: true, clock })
  const tokens = new Map<string, { token: Token; hash: string }>()
  const secrets = new Map<string, { value: string; createdAt: string; updatedAt: string }>()
  const listeners = new Set<() => void>()
  const auditEntries: AuditEntry[] = []
  let feed: FeedEvent[] = []
  let last = 0
  let feedReads = 0
  const database: MemoryDatabase = {
    kind: 'sqlite',
    platform,
    store: memoryStore({ clock, platform }),
    auditEntries,
    fails: null,
    get feedReads() {
      return feedReads
    },
    commit: event => {
      last++
      feed.push({
        seq: last,
        at: clock.now().toISOString(),
        what: 'updated',
        kind: 'Label',
        id: `id-${last}`,
        name: `name-${last}`,
        revision: 1,
        ...event,
      })
      for (const listener of listeners) listener()
    },
    forgetFeed: upTo => {
      feed = feed.filter(({ seq }) => seq > upTo)
    },
    tokens: {
      add: async (token, hash) => void tokens.set(token.id, { token, hash }),
      find: async id => {
        if (database.fails) throw database.fails
        return tokens.get(id) ?? null
      },
      list: async () => [...tokens.values()].map(({ token }) => token),
      revoke: async (id, at) => {
        const found = tokens.get(id)
        if (!found || found.token.revokedAt !== undefined) return false
        tokens.set(id, { ...found, token: { ...found.token, revokedAt: at } })
        return true
      },
    },
    secrets: {
      put: async (key, value, at) => {
        const before = secrets.get(key)
        const changed = before?.value !== value.reveal()
        if (changed) secrets.set(key, { value: value.reveal(), createdAt: before?.createdAt ?? at, updatedAt: at })
        return { changed }
      },
      list: async () =>
        [...secrets].map(([key, { createdAt, updatedAt }]) => ({ key, createdAt, updatedAt, usedBy: [] })),
      remove: async key => (secrets.delete(key) ? 'removed' : 'unknown'),
      reveal: async () => null,
    },
    audit: {
      add: async entry => void auditEntries.unshift({ ...entry, seq: auditEntries.length + 1 }),
      list: async ({ limit, before }) =>
        auditEntries.filter(({ seq }) => before === undefined || seq < before).slice(0, limit),
    },
    feed: {
      last: async () => last,
      first: async () => feed[0]?.seq ?? last + 1,
      since: async (seq, limit) => {
        feedReads++
        return feed.filter(event => event.seq > seq).slice(0, limit)
      },
      onChange: listener => {
        listeners.add(listener)
        return () => listeners.delete(listener)
      },
    },
    leadership: { isLeader: () => true, lead: () => ({ stop: async () => {} }) },
    setStatus: async (id, status) => {
      const live = platform.state.resources.get(id)
      if (!live) return false
      platform.state.resources.set(id, { ...live, status })
      return true
    },
    counts: async () => ({ resources: { Label: platform.state.resources.size }, stacks: 0 }),
    ping: async () => {
      if (database.fails) throw database.fails
    },
    tidy: async () => {},
    close: async () => {},
  }
  return database
}

export const anEmptyPlan: Plan = {
  id: 'plan-1',
  stack: null,
  basis: { stackRevision: 0, liveRevisions: {}, bundleHash: 'b', settingsHash: 's' },
  actions: [],
  associations: [],
  secrets: [],
  drift: [],
  blockers: [],
  needs: [],
  applicable: true,
  counts: { create: 0, update: 0, replace: 0, adopt: 0, forget: 0, delete: 0, unchanged: 0 },
  expiresAt: '2026-01-02T00:00:00.000Z',
}

export const anAnswer: ApplyAnswer = {
  summary: { resources: [], associations: [], missingEnvRefs: [], missingSecrets: [], sources: [] },
  plan: anEmptyPlan,
  problems: [],
  warnings: [],
  stackId: 'stack-1',
  outcome: { did: 'nothing' },
}

const { stackId: _, outcome: __, ...aPlanAnswer } = anAnswer

export const aStack: Stack = {
  id: 'stack-1',
  name: 'homelab',
  description: '',
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:00.000Z',
  revision: 3,
  state: 'active',
  config: { urls: [] },
  resources: [],
  sources: [],
}

export interface FakeEngine extends Engine {
  /** Name and arguments of every call. */
  readonly calls: (readonly [keyof Engine, readonly unknown[]])[]
  /** Answers instead of the default ones. */
  answers: Partial<Engine>
}

/** Knows one stack, `stack-1` or `homelab`. */
export function fakeEngine(): FakeEngine {
  const calls: (readonly [keyof Engine, readonly unknown[]])[] = []
  const known = async (stack: string): Promise<Stack> => {
    if (stack === aStack.id || stack === aStack.name) return aStack
    throw new RefusedError('stack.unknown', `there is no stack "${stack}"`)
  }
  const operated = async ({ stack }: { stack: string }) => ({
    stack: await known(stack),
    plan: anEmptyPlan,
    outcome: { did: 'nothing' as const },
  })
  const defaults: Engine = {
    validate: async () => aPlanAnswer,
    plan: async () => aPlanAnswer,
    apply: async () => anAnswer,
    applySaved: async () => anAnswer,
    export: async () => ({ resources: [], problems: [], warnings: [] }),
    stacks: async () => ({ stacks: [aStack] }),
    stack: known,
    history: async stack => {
      await known(stack)
      return []
    },
    lock: async () => null,
    createStack: async settings => {
      const problems = settingsProblems(settings)
      if (problems.length > 0) throw new ProblemsError(problems)
      return { ...aStack, name: settings.name }
    },
    updateStack: known,
    uninstall: operated,
    deleteStack: async operation => (operation.stack === aStack.id ? operated(operation) : null),
    forget: operated,
    import: async operation => ({ ...(await operated(operation)), exported: [] }),
    refresh: async operation => ({ ...(await operated(operation)), drift: [] }),
    unlock: async stack => {
      await known(stack)
      return null
    },
    cancel: async stack => {
      await known(stack)
      return false
    },
    recover: async () => {},
    reconcileDue: async () => {},
  }
  const engine = { calls, answers: {} } as unknown as FakeEngine
  for (const name of Object.keys(defaults) as (keyof Engine)[])
    Object.assign(engine, {
      [name]: (...args: unknown[]) => {
        calls.push([name, args])
        const answer = (engine.answers[name] ?? defaults[name]) as (...args: unknown[]) => unknown
        return answer(...args)
      },
    })
  return engine
}
