// Every screen as a whole. The reports are what the overlay gives; the golden files are what a person sees.
import { describe, expect, it } from 'vitest'
import { aStyle } from '../../lib/style.fake.ts'
import type { StateName, UnitName } from '../../overlay/names.ts'
import type { ApplyReport } from '../../overlay/report.ts'
import { noUnitActions } from '../../overlay/units/action.ts'
import type { Verified } from '../../overlay/verify.ts'
import { exitOfApply, printApply, printRollback, printUninstall } from './apply.ts'
import { printConfirm } from './confirm.ts'
import { exitOfGc, printGc } from './gc.ts'
import { printGenerations } from './generations.ts'
import { exitOfPlan, planToJson, printPlan } from './plan.ts'
import { printPrepare } from './prepare.ts'
import { exitOfRecover, printRecover } from './recover.ts'
import { exitOfStatus, printStatus } from './status.ts'
import { exitOfVerify, printVerify } from './verify.ts'
import { printWhy } from './why.ts'

type PrepareReport = Parameters<typeof printPrepare>[0]
type NodePlan = Parameters<typeof printPlan>[0]
type Status = Parameters<typeof printStatus>[0]

const state = (name: string) => `${name}-${'3f7a2k4q'.padEnd(52, 'b')}` as StateName
const unit = (name: string) => name as UnitName
const golden = (name: string) => `golden/${name}.txt`
const there = aStyle({ where: ' --root ./try' })

const unpinned = {
  code: 'source.unpinned',
  path: 'packageByNames.runc.source',
  reason: 'runc has no checksum; what came was sha256:9f2c4e',
  hint: 'Add checksum: "sha256:9f2c4e" to its source.',
  source: { file: 'overlay.json', line: 12, column: 7 },
} as const

describe('prepare', () => {
  const aReport = (differs: Partial<PrepareReport> = {}): PrepareReport => ({
    version: 'v2',
    etcState: state('etc'),
    packages: [],
    warnings: [],
    savedBytes: 0,
    ...differs,
  })
  const runc = { name: 'runc', kind: 'source', version: '1.2.0', fresh: true, size: 11_200_000 } as const
  const kubelet = { name: 'kubelet-unit', kind: 'systemd-unit', version: '1', fresh: true, size: 812 } as const

  it('lists what is new', async () => {
    const packages = [
      { ...runc, state: state('runc') },
      { ...kubelet, state: state('kubelet-unit') },
      { ...runc, name: 'containerd', state: state('containerd'), fresh: false },
    ]
    const report = aReport({ packages, warnings: [unpinned], savedBytes: 4_200_000 })
    await expect(printPrepare(report, aStyle())).toMatchFileSnapshot(golden('prepare'))
  })

  it('says one line when everything was there', () => {
    const packages = [{ ...runc, state: state('runc'), fresh: false }]
    expect(printPrepare(aReport({ packages }), aStyle())).toBe(
      'Nothing to prepare. Overlay v2 is in the store: 1 package.',
    )
  })
})

describe('plan', () => {
  const aPlan = (differs: Partial<NodePlan> = {}): NodePlan => ({
    version: 'v2',
    changes: true,
    etc: { add: [], change: [], remove: [], conflict: [] },
    units: noUnitActions,
    packages: { add: [], remove: [], change: [] },
    warnings: [],
    problems: [],
    ...differs,
  })
  const target = (name: string) => name as NodePlan['etc']['add'][number]['target']
  const full = aPlan({
    packages: {
      add: [{ name: 'cni', version: '1.5.1' }],
      change: [
        { name: 'containerd', version: '1.7.1', was: '1.7.0' },
        { name: 'pause', version: '3', was: '3' },
      ],
      remove: [{ name: 'crictl', version: '1.30' }],
    },
    etc: {
      add: [{ target: target('cni/net.d/10-bridge.conf'), reason: 'new', from: 'cni' }],
      change: [
        {
          target: target('containerd/config.toml'),
          reason: 'content changed',
          from: 'containerd',
          diff: [' version = 2', '-root = "/var/lib/containerd"', '+root = "/data/containerd"'],
        },
      ],
      remove: [{ target: target('crictl.yaml'), reason: 'no longer declared' }],
      conflict: [],
    },
    units: {
      start: [
        { name: unit('cni.service'), reason: 'new' },
        { name: unit('multi-user.target'), reason: 'new wants', hidden: true },
      ],
      restart: [{ name: unit('containerd.service'), reason: 'ExecStart changed', how: 'stop-start' }],
      reload: [{ name: unit('kubelet.service'), reason: 'containerd/config.toml changed' }],
      stop: [{ name: unit('crictl.service'), reason: 'no longer declared' }],
      skip: [{ name: unit('dbus.service'), reason: 'changed, but X-RestartIfChanged=false' }],
    },
    warnings: [unpinned],
  })

  it('shows packages, /etc with contents, and units, each with its reason', async () => {
    await expect(printPlan(full, aStyle())).toMatchFileSnapshot(golden('plan'))
  })

  it('fits a narrow terminal', async () => {
    await expect(printPlan(full, aStyle({ width: 50 }))).toMatchFileSnapshot(golden('plan-narrow'))
  })

  it('names what is in the way, and says that apply would refuse', async () => {
    const conflict = {
      target: target('caddy/Caddyfile'),
      reason: '/etc/caddy/Caddyfile exists and was not made by Cairn',
    }
    const plan = aPlan({
      changes: false,
      etc: { add: [], change: [], remove: [], conflict: [conflict] },
      problems: [
        { code: 'etc.conflict', path: 'x', reason: conflict.reason, hint: 'Move it away.' },
        { code: 'etc.unknown-owner', path: 'x', reason: 'no user "caddy"', hint: 'Make the user first.' },
      ],
    })
    expect(exitOfPlan(plan, { exitCode: true })).toBe(4)
    await expect(printPlan(plan, aStyle())).toMatchFileSnapshot(golden('plan-conflict'))
  })

  it('says one line when nothing changes', () => {
    const plan = aPlan({ changes: false })
    expect(printPlan(plan, aStyle())).toBe('No changes. This machine is as overlay v2 says.')
    expect(exitOfPlan(plan, { exitCode: true })).toBe(0)
  })

  it('shows the beginning of a long diff and says that there is more', () => {
    const diff = Array.from({ length: 50 }, (_, line) => `+line ${line}`)
    const plan = aPlan({ etc: { ...aPlan().etc, add: [{ target: target('long'), reason: 'new', diff }] } })
    const text = printPlan(plan, aStyle())
    expect(text).toContain('+line 39')
    expect(text).not.toContain('+line 40')
    expect(text).toContain('… 10 more lines; --json has all of them')
  })

  it('exits 2 for changes only when asked', () => {
    expect(exitOfPlan(full)).toBe(0)
    expect(exitOfPlan(full, { exitCode: true })).toBe(2)
  })

  it('gives programs name and reason of each unit, without the hidden ones', () => {
    expect(planToJson(full)).toMatchObject({
      etc: full.etc,
      units: {
        start: [{ name: 'cni.service', reason: 'new' }],
        stop: [{ name: 'crictl.service', reason: 'no longer declared' }],
        restart: [{ name: 'containerd.service', reason: 'ExecStart changed' }],
        reload: [{ name: 'kubelet.service', reason: 'containerd/config.toml changed' }],
        skip: [{ name: 'dbus.service', reason: 'changed, but X-RestartIfChanged=false' }],
      },
    })
    expect(planToJson(full).units.start).toHaveLength(1)
    expect(Object.keys(planToJson(full).units.restart[0] ?? {})).toEqual(['name', 'reason'])
  })
})

describe('apply', () => {
  const noUnits: ApplyReport['units'] = { start: [], stop: [], restart: [], reload: [], skip: [] }
  const aReport = (differs: Partial<ApplyReport> = {}): ApplyReport => ({
    outcome: 'applied',
    generation: 8,
    changed: true,
    units: noUnits,
    acted: true,
    failed: [],
    etc: { added: 0, changed: 0, removed: 0 },
    previous: 7,
    seconds: 1.23,
    warnings: [],
    notes: [],
    ...differs,
  })
  const busy = aReport({
    etc: { added: 3, changed: 1, removed: 0 },
    units: {
      start: [{ name: unit('cni.service'), reason: 'new' }],
      stop: [{ name: unit('crictl.service'), reason: 'no longer declared' }],
      restart: [{ name: unit('containerd.service'), reason: 'ExecStart changed' }],
      reload: [],
      skip: [{ name: unit('dbus.service'), reason: 'changed, but X-RestartIfChanged=false' }],
    },
    notes: ['A reboot is needed for all of it to take effect.'],
  })
  const broken = aReport({
    failed: [
      { name: 'web.service', reason: 'main process exited, status 1', log: ['cannot bind 8081: address in use'] },
      { name: 'check web', reason: 'HTTP 500 from 127.0.0.1:8081 (3 tries)', log: [] },
    ],
  })

  it.each([
    ['apply', printApply, busy],
    ['apply-offline', printApply, { ...busy, acted: false }],
    ['apply-first', printApply, aReport({ generation: 1, previous: null })],
    [
      'apply-confirm',
      printApply,
      aReport({ confirm: { id: '1b97ecef-88d9-4959-9e53-4b0bb40c21ae', deadline: '2026-11-15T12:01:00.000Z' } }),
    ],
    ['apply-rolled-back', printApply, { ...broken, outcome: 'rolled back' }],
    ['apply-unhealthy', printApply, { ...broken, outcome: 'applied, unhealthy' }],
    ['apply-undo-incomplete', printApply, { ...broken, outcome: 'undo incomplete', notes: ['/etc/web is half done.'] }],
    ['rollback', printRollback, aReport({ generation: 7, previous: 8, etc: { added: 0, changed: 2, removed: 1 } })],
    ['uninstall', printUninstall, aReport({ generation: null, etc: { added: 0, changed: 0, removed: 12 } })],
  ] as const)('%s', async (name, print, report) => {
    await expect(print(report, there)).toMatchFileSnapshot(golden(name))
  })

  it('says one line when nothing was to be done', () => {
    const report = aReport({ outcome: 'nothing to do', changed: false })
    expect(printApply(report, aStyle())).toBe('No changes. Generation 8 is as declared.')
    expect(printUninstall({ ...report, generation: null }, aStyle())).toBe('Nothing to uninstall.')
  })

  it.each([
    ['nothing to do', 0],
    ['applied', 0],
    ['rolled back', 1],
    ['undo incomplete', 5],
    ['applied, unhealthy', 6],
  ] as const)('that ended "%s" exits %d', (outcome, exit) => {
    expect(exitOfApply(aReport({ outcome }))).toBe(exit)
  })
})

describe('confirm and recover', () => {
  it('name the way on', () => {
    expect(printConfirm({ id: 'k3jd', generation: 8 }, there)).toBe(
      'Generation 8 is confirmed.\nWay back: cairn node rollback --root ./try',
    )
  })

  it('say what became of an interrupted apply', () => {
    const whole = { recovered: ['apply k3jd had not begun; it was dropped'], outcome: 'whole' } as const
    expect(printRecover(whole, there)).toBe('apply k3jd had not begun; it was dropped')
    expect(exitOfRecover(whole)).toBe(0)
    expect(printRecover({ recovered: [], outcome: 'whole' }, there)).toBe('Nothing to recover.')
    expect(exitOfRecover({ recovered: [], outcome: 'undo incomplete' })).toBe(5)
  })
})

describe('generations', () => {
  const aGeneration = (generation: number, createdAt: string, current = false) => ({
    generation,
    version: `v${generation}`,
    createdAt,
    current,
    entries: generation,
    etcState: state('etc'),
    outcome: generation === 10 ? 'went back' : 'healthy',
  })

  it('are listed newest first, with the current one marked', async () => {
    const list = [
      aGeneration(1, '2026-10-01T00:00:00.000Z'),
      aGeneration(9, '2026-11-15T09:00:00.000Z', true),
      aGeneration(10, '2026-11-15T11:58:00.000Z'),
    ]
    await expect(printGenerations(list, there)).toMatchFileSnapshot(golden('generations'))
  })

  it('that do not exist yet name the command that makes one', () => {
    expect(printGenerations([], there)).toContain('cairn node apply -f FILE --root ./try')
  })
})

describe('status', () => {
  const aStatus = (differs: Partial<Status> = {}) =>
    ({
      generation: 8,
      version: 'v2',
      etcState: state('etc'),
      drift: [],
      units: [],
      stray: [],
      ...differs,
    }) as Status
  const web = { name: unit('web.service'), active: 'active', sub: 'running' } as const

  it('is one line when all is as declared', () => {
    const status = aStatus({ units: [web] })
    expect(printStatus(status, aStyle())).toBe('Generation 8 (overlay v2) is as declared, 1 of 1 unit active.')
    expect(exitOfStatus(status, { exitCode: true })).toBe(0)
  })

  it('names what differs and the next step', async () => {
    const status = aStatus({
      drift: [
        { target: 'hosts.d/web', what: 'missing', detail: '' },
        { target: 'web/secret', what: 'edited', detail: 'its content differs' },
      ],
      stray: ['old/link'],
      units: [web, { name: 'db.service', active: 'failed', sub: 'failed', problem: 'exit status 1' }],
    } as Partial<Status>)
    expect(exitOfStatus(status)).toBe(0)
    expect(exitOfStatus(status, { exitCode: true })).toBe(2)
    await expect(printStatus(status, there)).toMatchFileSnapshot(golden('status-drift'))
  })

  it('tells of an open window and of an interrupted apply', async () => {
    const status = aStatus({
      pendingConfirm: { id: '1b97ecef-88d9-4959-9e53-4b0bb40c21ae', deadline: '2026-11-15T12:00:45.000Z' },
      openJournal: 'apply k3jd, phase switch',
    } as Partial<Status>)
    await expect(printStatus(status, there)).toMatchFileSnapshot(golden('status-open'))
  })

  it('before the first apply names the first command', () => {
    const status = aStatus({ generation: null, version: null, etcState: null } as Partial<Status>)
    expect(printStatus(status, there)).toContain('cairn node apply -f FILE --root ./try')
  })
})

describe('gc', () => {
  const removed = [
    { state: state('runc'), size: 11_200_000, why: 'unused' },
    { state: state('containerd'), size: 41_200_000, why: 'generation 2' },
  ] as const
  const collected: Parameters<typeof printGc>[0] = {
    removed: [...removed],
    generations: [1, 2],
    freedBytes: 52_400_000,
    kept: 6,
    resumedTrash: 0,
    spared: [],
    failed: [],
    generationsHeld: false,
    dryRun: false,
  }
  const nothing = { ...collected, removed: [], states: [], generations: [], freedBytes: 0 }

  it.each([
    ['gc', collected],
    ['gc-dry-run', { ...collected, dryRun: true }],
    ['gc-resumed', { ...nothing, resumedTrash: 2 }],
    ['gc-held', { ...nothing, generationsHeld: true, failed: [{ path: 'states/.trash/x', reason: 'EBUSY' }] }],
  ])('%s', async (name, report) => {
    await expect(printGc(report, there)).toMatchFileSnapshot(golden(name))
    expect(exitOfGc(report)).toBe(report.failed.length === 0 ? 0 : 1)
  })
})

describe('verify', () => {
  const differences = [
    { path: 'bin/runc', what: 'content differs' },
    { path: 'bin/extra', what: 'was not there' },
  ]

  it('is one line when all is well', () => {
    expect(printVerify({ checked: 8, bytes: 52_400_000, damaged: [] }, aStyle())).toBe(
      'All is as sealed: 8 states, 52.4 MB.',
    )
  })

  it('names damage and the repair', async () => {
    const report: Verified = { checked: 8, bytes: 52_400_000, damaged: [{ state: state('runc'), differences }] }
    expect(exitOfVerify(report)).toBe(1)
    await expect(printVerify(report, there)).toMatchFileSnapshot(golden('verify-damaged'))
  })

  it('says what was repaired, what was not, and why', async () => {
    const report: Verified = {
      checked: 8,
      bytes: 52_400_000,
      damaged: [
        { state: state('runc'), differences, repaired: true },
        { state: state('cni'), differences: differences.slice(0, 1), repaired: false, reason: 'its source is gone' },
      ],
    }
    expect(exitOfVerify(report)).toBe(1)
    expect(exitOfVerify({ ...report, damaged: report.damaged.slice(0, 1) })).toBe(0)
    await expect(printVerify(report, there)).toMatchFileSnapshot(golden('verify-repaired'))
  })
})

describe('why', () => {
  it('shows each chain from a root to the state', async () => {
    const why = {
      state: state('runc'),
      alive: true,
      chains: [
        ['generation 8', state('etc'), state('kubelet-unit'), state('runc')],
        ['process 412 (kubelet), exe', state('runc')],
      ],
    } as Parameters<typeof printWhy>[0]
    await expect(printWhy(why, aStyle())).toMatchFileSnapshot(golden('why'))
  })

  it('says that nothing needs it', () => {
    const why = { state: state('runc'), alive: false, chains: [] } as Parameters<typeof printWhy>[0]
    expect(printWhy(why, there)).toBe('Nothing needs runc-3f7a2k4q. cairn node gc --root ./try would remove it.')
  })
})
