// Every screen of bundles and stacks as a whole, at the widths of a small and a wide terminal.
import { describe, expect, it } from 'vitest'
import type { Action, Change, Plan } from '../../bundles/model/plan.ts'
import type { Stack, StackEvent } from '../../bundles/model/stack.ts'
import type { ApplyAnswer, PlanAnswer } from '../../bundles/request.ts'
import { aStyle } from '../../lib/style.fake.ts'
import { label } from '../../resources/kinds/label.ts'
import { printAudit, printNewToken, printSecrets, printTokens } from './access.ts'
import { exitOfApplied, printApplied } from './bundle-apply.ts'
import { exitOfBundlePlan, printBundlePlan, printDrift } from './bundle-plan.ts'
import { printResource, printResources } from './resources.ts'
import { printHistory, printStack, printStackList } from './stack.ts'
import { exitOfValidation, printValidation } from './validation.ts'

const golden = (name: string) => `golden/${name}.txt`
const noCounts: Plan['counts'] = { create: 0, update: 0, replace: 0, adopt: 0, forget: 0, delete: 0, unchanged: 0 }

const anAction = (differs: Partial<Action>): Action => ({
  action: 'create',
  apiVersion: 'cairn.dev/v1',
  kind: 'Label',
  name: 'edge',
  displayName: differs.name ?? 'edge',
  changes: [],
  unchangedFields: 0,
  why: 'new in the bundle',
  reason: 'new',
  dependsOn: [],
  destroysData: false,
  ...differs,
})

const aPlan = (differs: Partial<Plan> = {}): PlanAnswer => ({
  summary: { resources: [], associations: [], missingEnvRefs: [], missingSecrets: [], sources: ['homelab.yaml'] },
  plan: {
    id: 'a71e',
    stack: { id: '01jc8xq2vn4h5t6w7y9z', name: 'homelab' },
    basis: { stackRevision: 3, liveRevisions: {}, bundleHash: 'b', settingsHash: 's' },
    actions: [],
    associations: [],
    secrets: [],
    drift: [],
    blockers: [],
    needs: [],
    applicable: true,
    counts: noCounts,
    expiresAt: '2026-11-16T12:00:00.000Z',
    ...differs,
  },
  problems: [],
  warnings: [],
})

const tags: Change = { path: 'spec.tags', old: ['edge', 'test'], new: ['edge'], why: 'drift' }
const port: Change = { path: 'spec.roles.server.settings.port', old: 8080, new: 8081, why: 'bundle' }

const everything = aPlan({
  drift: [{ kind: 'Machine', name: 'cleo', gone: false, changes: [{ ...tags, old: ['edge'], new: ['edge', 'test'] }] }],
  actions: [
    anAction({ kind: 'Instance', name: 'metrics', reason: 'prometheus from builtin' }),
    anAction({
      action: 'adopt',
      kind: 'Datastore',
      name: 'harbor',
      displayName: 'Harbour',
      reason: 'taken over; kept when it leaves the bundle',
    }),
    anAction({
      action: 'update',
      kind: 'Instance',
      name: 'web',
      changes: [port],
      unchangedFields: 4,
      reason: 'changed in the bundle',
    }),
    anAction({
      action: 'update',
      kind: 'Machine',
      name: 'cleo',
      changes: [tags],
      unchangedFields: 3,
      why: 'drifted',
      reason: 'drifted',
    }),
    anAction({
      action: 'replace',
      kind: 'Volume',
      name: 'web_data',
      changes: [{ path: 'spec.format', old: 'raw', new: 'qcow2', why: 'bundle', forcesReplacement: true }],
      unchangedFields: 5,
      destroysData: true,
      reason: 'an immutable field changed; its data will be lost',
    }),
    anAction({ action: 'forget', kind: 'Label', name: 'old', reason: 'retained' }),
    anAction({
      action: 'delete',
      kind: 'Volume',
      name: 'scratch',
      id: 'x',
      destroysData: true,
      reason: 'web.yaml no longer has it; its data will be lost',
    }),
    anAction({ action: 'none', kind: 'Label', name: 'home', why: 'equal', reason: 'equal' }),
  ],
  associations: [
    {
      action: 'create',
      from: { kind: 'Volume', name: 'web_data' },
      to: { kind: 'Label', external: 'home' },
      why: 'bundle',
    },
  ],
  secrets: [{ key: 'harbor-password', action: 'update' }],
  needs: ['dataLoss'],
  counts: { ...noCounts, create: 1, adopt: 1, update: 2, replace: 1, forget: 1, delete: 1, unchanged: 1 },
})

describe('a plan', () => {
  it.each([60, 120])('shows drift first, reasons beside every line and deletes last, at %i columns', async width => {
    const text = printBundlePlan(everything, aStyle({ width }))
    expect(Math.max(...text.split('\n').map(line => line.length))).toBeLessThanOrEqual(width)
    await expect(text).toMatchFileSnapshot(golden(`bundle-plan-${width}`))
  })

  it('shows changed text of several lines as a diff', async () => {
    const change: Change = {
      path: 'spec.config.etc.motd.text',
      old: 'one\ntwo\nthree\n',
      new: 'one\n2\nthree\n',
      why: 'bundle',
    }
    const actions = [
      anAction({
        action: 'update',
        kind: 'Machine',
        name: 'atlas',
        changes: [change],
        reason: 'changed in the bundle',
      }),
    ]
    const text = printBundlePlan(aPlan({ actions, counts: { ...noCounts, update: 1 } }), aStyle())
    await expect(text).toMatchFileSnapshot(golden('bundle-plan-text'))
  })

  it.each([
    [
      'nothing to do',
      aPlan({ actions: [anAction({ action: 'none', why: 'equal' })] }),
      'No changes. Stack homelab is as declared.',
    ],
    ['an empty stack', aPlan(), 'The stack is empty, and so is the bundle.'],
    [
      'nothing but drift',
      aPlan({ actions: [anAction({ action: 'update', why: 'drifted', changes: [tags] })] }),
      'The bundle is as it was applied; apply brings back what changed outside.',
    ],
    [
      'something in the way',
      aPlan({ blockers: [{ code: 'resource.exists', path: 'Label/edge', reason: 'a Label "edge" is there already' }] }),
      'Apply would refuse this. Nothing was changed.',
    ],
  ])('has a sentence of its own for %s', (_, plan, sentence) => {
    expect(printBundlePlan(plan, aStyle())).toContain(sentence)
  })

  it('exits by what it holds', () => {
    const blocked = aPlan({ blockers: [{ code: 'resource.exists', path: '', reason: '' }] })
    expect([
      exitOfBundlePlan(everything),
      exitOfBundlePlan(everything, { exitCode: true }),
      exitOfBundlePlan(aPlan(), { exitCode: true }),
      exitOfBundlePlan(blocked),
      exitOfBundlePlan({ ...blocked, problems: [{ code: 'key.unknown', path: '', reason: '' }] }),
    ]).toEqual([0, 2, 0, 4, 3])
  })
})

describe('an apply', () => {
  const applied = (differs: Partial<ApplyAnswer>): ApplyAnswer => ({
    ...everything,
    stackId: '01jc8xq2vn4h5t6w7y9z',
    outcome: { did: 'applied', madeStack: true },
    ...differs,
  })
  const failure = { code: 'server.failed', path: 'Volume/web_data', reason: 'the disk is full' } as const
  const outcomes: readonly ApplyAnswer[] = [
    applied({}),
    applied({ outcome: { did: 'nothing' } }),
    applied({ outcome: { did: 'rolled back', failures: [failure] } }),
    applied({
      outcome: {
        did: 'rollback incomplete',
        failures: [failure],
        leftovers: [{ ...failure, reason: 'was changed by another meanwhile' }],
      },
    }),
  ]

  it('says what it did, or that it was taken back', async () => {
    const text = outcomes.map(outcome => printApplied(outcome, aStyle())).join('\n\n')
    await expect(text).toMatchFileSnapshot(golden('bundle-apply'))
    expect(outcomes.map(exitOfApplied)).toEqual([0, 0, 1, 5])
  })

  it('exits 6 when something is not ready in time', () => {
    const late = {
      ...applied({}),
      readiness: { ready: false, waiting: [{ kind: 'Machine', name: 'atlas', reason: 'never seen' }] },
    }
    expect(exitOfApplied(late)).toBe(6)
    expect(printApplied(late, aStyle())).toContain('… Machine/atlas  never seen')
  })
})

describe('a validation', () => {
  const source = (file: string, line: number, column: number) => ({ file, line, column })
  it('puts every problem at its place', async () => {
    const report = {
      ...aPlan(),
      problems: [
        {
          code: 'key.unknown',
          path: 'resources[0].metadta',
          reason: 'unknown key "metadta" in Label',
          hint: 'did you mean "metadata"?',
          source: source('broken/web.yaml', 3, 1),
        },
        {
          code: 'value.range',
          path: 'Instance/web.spec.port',
          reason: 'port must be between 1 and 65535, got 80801',
          source: source('broken/web.yaml', 21, 9),
        },
        {
          code: 'reference.missing',
          path: 'Volume/data.spec.datastore',
          reason: 'datastore "harbour" does not exist',
          hint: 'did you mean "harbor"?',
          source: source('broken/vol.yaml', 8, 5),
        },
      ],
    } satisfies PlanAnswer
    await expect(printValidation(report, aStyle({ width: 120 }))).toMatchFileSnapshot(golden('bundle-invalid'))
    expect(exitOfValidation(report)).toBe(3)
  })

  it('says what a valid bundle holds, and what apply will need', () => {
    const answer = aPlan()
    const resource = {
      apiVersion: 'cairn.dev/v1',
      kind: 'Label',
      name: 'home',
      displayName: 'home',
      spec: {},
      associations: [],
      envReferences: [],
    }
    const report = { ...answer, summary: { ...answer.summary, resources: [resource], missingSecrets: ['pw'] } }
    expect(printValidation(report, aStyle())).toBe(
      'Valid: 1 resource in 1 file.\n  Label  home\nApply needs the secret pw: --secret pw',
    )
  })
})

describe('stacks', () => {
  const stack: Stack = {
    id: '01jc8xq2vn4h5t6w7y9z',
    name: 'homelab',
    description: 'The machines at home',
    createdAt: '2026-11-01T12:00:00.000Z',
    updatedAt: '2026-11-15T11:30:00.000Z',
    revision: 7,
    state: 'degraded',
    config: { urls: ['https://git.example/homelab.yaml'], reconcile: '10m' },
    resources: ['home', 'web_data'].map(name => ({
      apiVersion: 'cairn.dev/v1',
      kind: name === 'home' ? 'Label' : 'Volume',
      name,
      id: name,
      associations: [],
      lifecycle: name === 'home' ? {} : { onRemove: 'protect' },
      adopted: name === 'home',
      envRefs: [],
      appliedAt: '2026-11-15T11:30:00.000Z',
    })),
    sources: ['homelab.yaml'],
    leftovers: [{ code: 'rollback.conflict', path: 'Label/home', reason: 'was changed by another meanwhile' }],
  }
  const events: StackEvent[] = [
    {
      seq: 2,
      type: 'rollback',
      at: '2026-11-15T11:30:00.000Z',
      by: 'ada',
      sources: [],
      changes: [],
      outcome: 'the disk is full',
    },
    {
      seq: 1,
      type: 'apply',
      at: '2026-11-01T12:00:00.000Z',
      by: 'ada',
      sources: [],
      changes: [],
      counts: { ...noCounts, create: 2, unchanged: 5 },
      outcome: 'applied',
    },
  ]

  it('show what they own and what happened to them', async () => {
    const shown = {
      ...stack,
      lock: { holder: 'ada', operation: 'apply', since: '2026-11-15T11:59:00.000Z' },
      live: [
        { displayName: 'Home', state: 'live' as const },
        { displayName: null, state: 'gone' as const },
      ],
    }
    const text = [printStackList([stack], aStyle()), printStack(shown, aStyle()), printHistory(events, aStyle())].join(
      '\n\n',
    )
    await expect(text).toMatchFileSnapshot(golden('stacks'))
  })

  it('teach when there are none', () => {
    expect(printStackList([], aStyle())).toBe('No stacks yet. cairn apply -f BUNDLE makes one.')
    expect(printHistory([], aStyle())).toBe('Nothing has happened yet.')
  })

  it('say how to take drift back, or that the record follows it', async () => {
    const drift = everything.plan.drift
    const text = [false, true].map(accepted => printDrift({ drift, stack: 'homelab', accepted }, aStyle())).join('\n\n')
    await expect(text).toMatchFileSnapshot(golden('stack-drift'))
    expect(printDrift({ drift: [], stack: 'homelab', accepted: false }, aStyle())).toBe(
      'Stack homelab is as it was applied.',
    )
  })
})

describe('resources and access', () => {
  const live = {
    apiVersion: 'cairn.dev/v1',
    kind: 'Label',
    metadata: {
      id: '01jc8xq2vn4h5t6w7y9z',
      revision: 3,
      createdAt: '2026-11-01T12:00:00.000Z',
      updatedAt: '2026-11-15T11:30:00.000Z',
      stack: { id: 's', name: 'homelab', resource: 'home' },
    },
    spec: { name: 'Home', color: '#2f6f4f' },
    status: null,
  }

  it('are tables with the columns of their kind, and one is YAML', async () => {
    const text = [
      printResources({ kind: label, resources: [live], wide: true }, aStyle()),
      printResource(live),
      printResources({ kind: label, resources: [], wide: false }, aStyle()),
    ].join('\n\n')
    await expect(text).toMatchFileSnapshot(golden('resources'))
  })

  it('name who may do what, and who did', async () => {
    const token = {
      id: '01jc8xq2vn4h5t6w7y9z',
      name: 'ci',
      role: 'operator',
      createdAt: '2026-11-01T12:00:00.000Z',
    } as const
    const entry = {
      seq: 9,
      at: '2026-11-15T11:30:00.000Z',
      who: 'ci',
      role: 'operator',
      action: 'POST /api/v1/bundles/apply',
      target: 'homelab',
      status: 409,
      detail: {},
    } as const
    const text = [
      printTokens(
        [
          token,
          { ...token, name: 'old', expiresAt: '2026-11-10T12:00:00.000Z' },
          { ...token, name: 'lost', role: 'machine', machine: 'cleo', revokedAt: '2026-11-14T12:00:00.000Z' },
        ],
        aStyle(),
      ),
      printNewToken({ token, text: 'cairn_01jc8xq2vn4h5t6w7y9z_secret' }, aStyle()),
      printSecrets(
        [
          { key: 'pw', updatedAt: '2026-11-14T12:00:00.000Z', usedBy: ['Datastore/harbor'] },
          { key: 'old', updatedAt: '2026-11-14T12:00:00.000Z', usedBy: [] },
        ],
        aStyle(),
      ),
      printAudit([entry], aStyle()),
    ].join('\n\n')
    await expect(text).toMatchFileSnapshot(golden('access'))
  })
})
