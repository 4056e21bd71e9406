// A platform in memory, shared or with a journal, which can be told to fail. It outlives engines: a restart is a new engine
// over the same one.
import { createHash } from 'node:crypto'
import type { Clock } from '../../lib/clock.ts'
import { unreachable } from '../../lib/errors.ts'
import { Secret } from '../../lib/redact.ts'
import type { Kind } from '../../resources/kind.ts'
import type { Live, LiveId, Platform, Unreadable, Write, Written } from '../platform.ts'
import { WriteConflict } from '../store.ts'

/** `before`: nothing happened; `after`: it took effect all the same; hanging ends only when the caller gives up. */
export type WriteFault = 'fail before' | 'fail after' | 'hang before' | 'hang after'

export interface Faults {
  /** Asked for every write, numbered from 1. */
  onWrite?: ((count: number, write: Write) => WriteFault | undefined) | undefined
  /** Just before a write of a journal platform takes effect, and just after. */
  beforeEffect?: ((count: number, write: Write) => Promise<void>) | undefined
  unreadable?: ReadonlySet<string>
}

export interface MemoryState {
  readonly resources: Map<string, Live>
  readonly refersTo: Map<string, readonly LiveId[]>
  /** Sealed, by key. */
  readonly secrets: Map<string, string>
}

export interface MemoryPlatform extends Platform {
  faults: Faults
  /** Replaced as a whole when a shared transaction commits. */
  state: MemoryState
  /** Everything that took effect, in order. */
  readonly writes: Write[]
  perform(state: MemoryState, write: Write): Written
  /** What stands there, without what every write moves. */
  snapshot(): unknown
  /** As somebody outside would do it. */
  outside(...writes: Write[]): void
}

export interface MemoryPlatformOptions {
  readonly kinds: readonly Kind[]
  readonly transaction: 'shared' | 'journal'
  readonly clientIds: boolean
  readonly clock: Clock
  readonly name?: string
}

export function memoryPlatform({ kinds, transaction, clientIds, clock, name = '' }: MemoryPlatformOptions) {
  const families = new Map(kinds.map(kind => [kind.kind, kind]))
  let made = 0
  let asked = 0

  const takes = (state: MemoryState, wanted: { kind: string; id: string; displayName: string }) => {
    const kind = families.get(wanted.kind)
    if (!kind) throw new Error(`no kind ${wanted.kind}`)
    if (!kind.displayName.unique) return
    for (const other of state.resources.values())
      if (
        other.id !== wanted.id &&
        other.displayName === wanted.displayName &&
        families.get(other.kind)?.family === kind.family
      )
        throw new WriteConflict('display-name', { kind: wanted.kind, id: wanted.id })
  }
  const put = (state: MemoryState, write: Extract<Write, { do: 'create' | 'update' | 'restore' }>, id: string) => {
    takes(state, { ...write, id })
    const before = state.resources.get(id)
    const now = clock.now().toISOString()
    const revision = (before?.revision ?? 0) + 1
    state.resources.set(id, {
      kind: write.kind,
      id,
      apiVersion: write.apiVersion,
      displayName: write.displayName,
      spec: structuredClone(write.spec),
      associations: before?.associations ?? [],
      revision,
      status: before?.status ?? null,
      createdAt: before?.createdAt ?? now,
      updatedAt: now,
    })
    state.refersTo.set(id, write.refersTo)
    return clientIds ? { revision } : { id, revision }
  }
  const revisionIs = (live: Live | undefined, write: LiveId & { ifRevision?: number }) => {
    if (write.ifRevision === undefined) return
    if (!live) throw new WriteConflict('gone', { kind: write.kind, id: write.id })
    if (live.revision !== write.ifRevision) throw new WriteConflict('revision', { kind: write.kind, id: write.id })
  }
  const associated = (state: MemoryState, from: LiveId, to: LiveId, add: boolean): Written => {
    const live = state.resources.get(from.id)
    if (!live || (add && !state.resources.has(to.id))) {
      if (add) throw new WriteConflict('gone', live ? to : from)
      return { revision: 0 }
    }
    const others = live.associations.filter(({ id }) => id !== to.id)
    const associations = add ? [...others, { kind: to.kind, id: to.id }] : others
    state.resources.set(live.id, { ...live, associations: associations.sort((a, b) => (a.id < b.id ? -1 : 1)) })
    return { revision: live.revision }
  }

  const perform = (state: MemoryState, write: Write): Written => {
    switch (write.do) {
      case 'create':
        if (clientIds && state.resources.has(write.id)) throw new WriteConflict('revision', write)
        return put(state, write, clientIds ? write.id : `${name || 'memory'}-${++made}`)
      case 'update':
        revisionIs(state.resources.get(write.id), write)
        return put(state, write, write.id)
      case 'restore': {
        const live = state.resources.get(write.id)
        if (live) revisionIs(live, write)
        return put(state, write, live || clientIds ? write.id : `${name || 'memory'}-${++made}`)
      }
      case 'remove': {
        const live = state.resources.get(write.id)
        if (!live) return { revision: 0 }
        revisionIs(live, write)
        state.resources.delete(write.id)
        state.refersTo.delete(write.id)
        for (const other of state.resources.values())
          if (other.associations.some(({ id }) => id === write.id)) associated(state, other, write, false)
        return { revision: live.revision }
      }
      case 'associate':
      case 'dissociate':
        return associated(state, write.from, write.to, write.do === 'associate')
      case 'put-secret':
        state.secrets.set(write.key, seal(write.value))
        return { revision: 0 }
      case 'restore-secret':
        if (write.sealed === null) state.secrets.delete(write.key)
        else state.secrets.set(write.key, write.sealed)
        return { revision: 0 }
      default:
        return unreachable(write)
    }
  }

  const inOrder = () => [...platform.state.resources.values()].sort((a, b) => (a.id < b.id ? -1 : 1))

  const platform: MemoryPlatform = {
    name,
    kinds,
    transaction,
    clientIds,
    faults: {},
    state: { resources: new Map(), refersTo: new Map(), secrets: new Map() },
    writes: [],
    perform: (state, write) => {
      if (transaction === 'shared' && platform.faults.onWrite?.(++asked, write)) throw new Error('the fake fails here')
      return perform(state, write)
    },
    read: async ids => {
      const found = new Map<string, Live | Unreadable>()
      for (const { kind, id } of ids) {
        const live = platform.state.resources.get(id)
        if (platform.faults.unreadable?.has(id))
          found.set(id, { unreadable: { code: 'live.unreadable', path: '', reason: 'the fake is told so' } })
        else if (live?.kind === kind) found.set(id, live)
      }
      return found
    },
    find: async wanted => {
      const names = new Set(wanted.map(({ kind, displayName }) => `${kind}/${displayName}`))
      return inOrder().filter(({ kind, displayName }) => names.has(`${kind}/${displayName}`))
    },
    list: async ({ kinds, displayNames, labels }, { limit, cursor }) => {
      const nameOf = (id: string) => platform.state.resources.get(id)?.displayName ?? ''
      const fitting = inOrder().filter(
        live =>
          (!kinds || kinds.includes(live.kind)) &&
          (!displayNames || displayNames.includes(live.displayName)) &&
          (!labels || live.associations.some(({ id }) => labels.includes(nameOf(id)))) &&
          (cursor === undefined || live.id > cursor),
      )
      const resources = fitting.slice(0, limit)
      return fitting.length > limit ? { resources, next: resources.at(-1)!.id } : { resources }
    },
    referrers: async ids => {
      const wanted = new Set(ids)
      return inOrder().flatMap(({ kind, id, displayName }) =>
        (platform.state.refersTo.get(id) ?? [])
          .filter(to => wanted.has(to.id))
          .map(to => ({ from: { kind, id, displayName }, to: to.id })),
      )
    },
    secrets: {
      fingerprints: async keys =>
        new Map(
          keys.flatMap(key => {
            const sealed = platform.state.secrets.get(key)
            return sealed === undefined ? [] : [[key, fingerprint(unseal(sealed))]]
          }),
        ),
      fingerprint,
      sealed: async key => platform.state.secrets.get(key) ?? null,
    },
    snapshot: () => ({
      resources: inOrder().map(({ revision, updatedAt, createdAt, ...rest }) => ({
        ...rest,
        refersTo: platform.state.refersTo.get(rest.id),
      })),
      secrets: Object.fromEntries([...platform.state.secrets].sort(([a], [b]) => (a < b ? -1 : 1))),
    }),
    outside: (...writes) => {
      for (const write of writes) perform(platform.state, write)
    },
  }
  if (transaction === 'journal')
    platform.write = async (write, signal) => {
      const count = ++asked
      const fault = platform.faults.onWrite?.(count, write)
      await new Promise(setImmediate)
      await platform.faults.beforeEffect?.(count, write)
      if (fault === 'fail before') throw new Error('the fake fails here')
      if (fault === 'hang before') await untilGivenUp(signal)
      const written = perform(platform.state, write)
      platform.writes.push(write)
      if (fault === 'fail after') throw new Error('the fake fails here')
      if (fault === 'hang after') await untilGivenUp(signal)
      return written
    }
  return platform
}

const untilGivenUp = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => {
    if (signal.aborted) return reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason))
  })

/** Not a cipher; only the clear value must be nowhere. */
const seal = (value: Secret): string => `sealed:${Buffer.from(value.reveal()).toString('hex')}`
const unseal = (sealed: string): Secret => new Secret(Buffer.from(sealed.slice(7), 'hex').toString())
const fingerprint = (value: Secret): string =>
  createHash('sha256').update(`fake key ${value.reveal()}`).digest('hex').slice(0, 16)
