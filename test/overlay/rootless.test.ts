// The life of one machine as an ordinary user sees it below --root: from nothing to a generation, changes, ways back, drift,
// collection, damage, and back to nothing. Real processes, a real server for the sources; no systemd, so units are linked only.
import {
  chmodSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { realClock } from '../../src/lib/clock.ts'
import { removeTree } from '../../src/lib/durable.ts'
import { realFiles } from '../../src/lib/files.ts'
import { acquireLock } from '../../src/lib/lock.ts'
import type { NodePlan } from '../../src/overlay/node-plan.ts'
import type { ApplyReport } from '../../src/overlay/report.ts'
import type { OverlayConfig } from '../../src/resources/overlay-config.ts'
import { snapshotTree } from '../machine/etc-snapshot.ts'
import { type RootlessMachine, rootlessMachine } from './rootless.ts'
import { changed, type Sources, seedConfig, serveSources } from './seed.ts'

let machine: RootlessMachine
let sources: Sources
let v1: OverlayConfig
/** One thing changed in each. */
let v2: OverlayConfig
let v3: OverlayConfig

beforeAll(async () => {
  machine = await rootlessMachine()
})
beforeEach(async () => {
  sources = await serveSources()
  v1 = changed(seedConfig(sources), copy => {
    // Only root may give a file away.
    for (const entry of copy.packageByNames!['kubelet-secrets']!.etcFiles!) {
      delete entry.owner
      delete entry.group
    }
  })
  v2 = changed(v1, copy => {
    copy.version = 'v2'
    copy.packageByNames!['containerd-config']!.source.content = 'version = 3\n'
  })
  v3 = changed(v2, copy => {
    copy.version = 'v3'
    const unit = copy.systemdUnitsByName!.kubelet!
    unit.templateInline = unit.templateInline.replace('--v=2', '--v=4')
  })
})
afterEach(async () => {
  machine.user.clear()
  await sources.close()
})
afterAll(() => machine?.user.remove())

const apply = (config: OverlayConfig, options = '') => machine.node<ApplyReport>(`apply${options}`, config)
const plan = (config: OverlayConfig) => machine.node<NodePlan>('plan', config)
const inEtc = (target: string) => readFileSync(machine.etc(target), 'utf8')
const nothingForUnits = { start: [], stop: [], restart: [], reload: [], skip: [] }
const seedUnits = ['containerd.service', 'kubelet.service']

describe('the first apply', () => {
  it('makes generation 1 out of nothing: links through static, copies where a mode is wanted, units that name the store', async () => {
    const { code, said } = await apply(v1)
    expect(code).toBe(0)
    expect(said).toMatchObject({ outcome: 'applied', generation: 1, previous: null, changed: true, failed: [] })
    expect(said).toMatchObject({ acted: false, etc: { added: 6, changed: 0, removed: 0 } })
    expect(said.units.start.map(({ name }) => name)).toEqual(seedUnits)
    expect({ ...said.units, start: [] }).toEqual(nothingForUnits)

    expect(readlinkSync(machine.etc('containerd/config.toml'))).toBe('../../cairn/etc/static/containerd/config.toml')
    expect(inEtc('containerd/config.toml')).toBe('version = 2\n')
    expect(statSync(machine.etc('containerd/config.toml')).mode & 0o777).toBe(0o555)
    expect(lstatSync(machine.etc('kubernetes/token')).isFile()).toBe(true)
    expect(lstatSync(machine.etc('kubernetes/token')).mode & 0o777).toBe(0o600)
    expect(machine.current()).toBe('generations/1')
    expect(JSON.parse(readFileSync(machine.store('configs/v1.json'), 'utf8'))).toEqual(v1)
    expect([...sources.requests].sort()).toEqual(['/containerd.tar.gz', '/kubelet', '/runc'])
  })

  it('renders units with the paths that the machine will see, and only the declared packages in PATH', async () => {
    await apply(v1)
    const state = (name: string) => `/cairn/states/${machine.stateOf(name)}`
    const unit = inEtc('systemd/system/containerd.service')
    expect(unit).toContain(`ExecStart=${state('containerd')}/bin/containerd --config /etc/containerd/config.toml\n`)
    expect(unit).toContain(`Environment=PATH=${state('containerd')}/bin:${state('runc')}/bin\n`)
    expect(inEtc('systemd/system/kubelet.service')).toContain(
      `Environment=PATH=${state('containerd')}/bin:${state('kubelet')}/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\n`,
    )
    for (const name of seedUnits)
      expect(realpathSync(machine.etc(`systemd/system/multi-user.target.wants/${name}`))).toBe(
        realpathSync(machine.etc(`systemd/system/${name}`)),
      )
  })
})

describe('a second apply', () => {
  it('does nothing, asks no server and writes nothing but its lock', async () => {
    await apply(v1)
    const asked = sources.requests.length
    const mark = machine.user.write('mark', '')
    const { code, said } = await apply(v1)
    expect({ code, said }).toMatchObject({ code: 0, said: { outcome: 'nothing to do', generation: 1, changed: false } })
    expect(said.units).toEqual(nothingForUnits)
    const newer = await machine.user.run(['find', machine.root, '(', '-newer', mark, '-o', '-cnewer', mark, ')'])
    const written = newer.stdout.split('\n').filter(path => path !== '' && !path.includes('/cairn/locks'))
    expect(written).toEqual([])
    expect(sources.requests).toHaveLength(asked)
  })
})

describe('a change', () => {
  it('of a template restarts that unit alone, and the plan says why', async () => {
    await apply(v2)
    const { said } = await plan(v3)
    expect(said.units).toEqual({
      ...nothingForUnits,
      restart: [{ name: 'kubelet.service', reason: expect.stringContaining('ExecStart') }],
    })
    expect(said.etc.change.map(({ target }) => target)).toEqual(['systemd/system/kubelet.service'])
    expect(said.etc.change[0]?.diff).toEqual(
      expect.arrayContaining([expect.stringMatching(/^-.*--v=2$/), expect.stringMatching(/^\+.*--v=4$/)]),
    )
    expect((await apply(v3)).said).toMatchObject({ generation: 2, previous: 1, units: said.units })
    expect(inEtc('systemd/system/kubelet.service')).toContain('--v=4')
  })

  it('of a config file reloads the unit that names it, and no other', async () => {
    await apply(v1)
    const { said } = await plan(v2)
    expect(said.units).toEqual({
      ...nothingForUnits,
      reload: [{ name: 'containerd.service', reason: expect.stringContaining('containerd/config.toml') }],
    })
    expect((await apply(v2)).said.units).toEqual(said.units)
    expect(inEtc('containerd/config.toml')).toBe('version = 3\n')
  })

  it('that removes a package stops its unit, and its entries go with the directories that were made for them', async () => {
    await apply(v1)
    const without = changed(v1, copy => {
      delete copy.packageByNames!.kubelet
      delete copy.packageByNames!['kubelet-secrets']
      delete copy.systemdUnitsByName!.kubelet
    })
    const { said } = await plan(without)
    expect(said.units).toEqual({
      ...nothingForUnits,
      stop: [{ name: 'kubelet.service', reason: expect.stringMatching(/./) }],
    })
    expect(said.packages.remove.map(({ name }) => name)).toEqual(['kubelet', 'kubelet-secrets'])
    const gone = [
      'kubernetes/token',
      'systemd/system/kubelet.service',
      'systemd/system/multi-user.target.wants/kubelet.service',
    ]
    expect(said.etc.remove.map(({ target }) => target)).toEqual(gone)
    await apply(without)
    expect(gone.filter(target => existsSync(machine.etc(target)))).toEqual([])
    expect(readdirSync(machine.etc('.')).sort()).toEqual(['containerd', 'systemd'])
  })
})

describe('the way back', () => {
  it('leads to any generation, without a server, and forth again', async () => {
    await apply(v1)
    const first = etcWithoutTimes()
    await apply(v2)
    await apply(v3)
    const third = etcWithoutTimes()
    const asked = sources.requests.length

    expect(await machine.node('rollback --to 1')).toMatchObject({ code: 0, said: { generation: 1, previous: 3 } })
    expect(etcWithoutTimes()).toEqual(first)
    expect(machine.current()).toBe('generations/1')
    expect(await machine.node('rollback --to 3')).toMatchObject({ code: 0, said: { generation: 3 } })
    expect(etcWithoutTimes()).toEqual(third)
    expect(await machine.node('rollback')).toMatchObject({ code: 0, said: { generation: 2 } })
    expect(sources.requests).toHaveLength(asked)
    // The next apply takes the next number.
    expect(await apply(v1)).toMatchObject({ code: 0, said: { generation: 4, previous: 2 } })
  })

  it('is refused where there is none', async () => {
    expect(await machine.node('rollback')).toMatchObject({ code: 4, said: { error: { code: 'generation.none' } } })
    await apply(v1)
    const before = machine.snapshot()
    expect(await machine.node('rollback --to 9')).toMatchObject({
      code: 4,
      said: { error: { code: 'generation.unknown' } },
    })
    expect(machine.snapshot()).toEqual(before)
  })

  it('is taken by itself when nobody confirms in time', async () => {
    await apply(v1)
    const { code, said } = await apply(v2, ' --confirm-within 1s')
    expect(code).toBe(0)
    expect(said).toMatchObject({ generation: 2, confirm: { id: expect.any(String), deadline: expect.any(String) } })
    await expect.poll(() => [machine.current(), journal()], { timeout: 30_000 }).toEqual(['generations/1', []])
    expect(inEtc('containerd/config.toml')).toBe('version = 2\n')
    // Who went back may hold the lock for one moment more.
    const confirm = () => machine.node('confirm')
    await expect.poll(confirm).toMatchObject({ code: 4, said: { error: { code: 'confirm.nothing' } } })
  })

  it('is closed by confirm', async () => {
    await apply(v1)
    const { said } = await apply(v2, ' --confirm-within 4s')
    expect(await machine.node('status')).toMatchObject({ said: { pendingConfirm: said.confirm } })
    expect(await machine.node(`confirm ${said.confirm!.id.slice(0, 8)}`)).toMatchObject({
      code: 0,
      said: { id: said.confirm!.id, generation: 2 },
    })
    await pastDeadline(said)
    expect(await machine.node('status')).toMatchObject({ said: { generation: 2, drift: [] } })
    expect(machine.current()).toBe('generations/2')
  })
})

describe('what Cairn did not make', () => {
  it('stops an apply before it begins, and everything in the way is listed', async () => {
    const targets = ['containerd/config.toml', 'kubernetes/token', 'systemd/system/kubelet.service']
    machine.user.write('machine/etc/containerd/config.toml', 'mine')
    machine.user.write('machine/etc/systemd/system/kubelet.service/keep', 'mine')
    machine.user.write('machine/etc/kubernetes/other', 'mine')
    symlinkSync('other', machine.etc('kubernetes/token'))
    const etc = snapshotTree(machine.etc('.'))

    const planned = await plan(v1)
    expect(planned.code).toBe(4)
    expect(planned.said.etc.conflict.map(({ target }) => target)).toEqual(targets)
    const { code, said } = await machine.node<{ error: { problems: { code: string }[] } }>('apply', v1)
    expect(code).toBe(4)
    expect(said.error.problems).toMatchObject([
      { code: 'etc.conflict', path: 'packageByNames.containerd-config.etcFiles[0]' },
      { code: 'etc.conflict', path: 'packageByNames.kubelet-secrets.etcFiles[0]' },
      { code: 'etc.conflict', path: 'systemdUnitsByName.kubelet' },
    ])
    expect(snapshotTree(machine.etc('.'))).toEqual(etc)
    expect(machine.current()).toBeNull()
    expect(await machine.node('generations')).toMatchObject({ said: { generations: [] } })
  })

  it('is backed up where that is declared, and uninstall gives /etc back byte for byte', async () => {
    machine.user.write('machine/etc/hostname', 'atlas\n')
    chmodSync(machine.user.write('machine/etc/containerd/config.toml', 'mine, from before'), 0o640)
    machine.user.write('machine/etc/kubernetes/other', 'mine')
    symlinkSync('other', machine.etc('kubernetes/token'))
    for (const target of ['hostname', 'containerd/config.toml']) utimesSync(machine.etc(target), 1e9, 1e9)
    const etc = snapshotTree(machine.etc('.'))
    const replacing = (config: OverlayConfig) =>
      changed(config, copy => {
        for (const name of ['containerd-config', 'kubelet-secrets'])
          copy.packageByNames![name]!.etcFiles![0]!.replaceExisting = true
      })

    expect(await apply(replacing(v1))).toMatchObject({ code: 0, said: { generation: 1 } })
    expect(inEtc('containerd/config.toml')).toBe('version = 2\n')
    expect(inEtc('kubernetes/token')).toBe('token\n')
    expect(await apply(replacing(v3))).toMatchObject({ code: 0, said: { generation: 2 } })
    expect(await machine.node('uninstall')).toMatchObject({ code: 4 })
    expect(await machine.node('uninstall --yes')).toMatchObject({ code: 0, said: { outcome: 'applied' } })
    expect(snapshotTree(machine.etc('.'))).toEqual(etc)
    expect(machine.current()).toBeNull()

    expect(await machine.node('uninstall --yes --purge')).toMatchObject({ code: 0 })
    expect(readdirSync(machine.root)).toEqual(['etc'])
    expect(snapshotTree(machine.etc('.'))).toEqual(etc)
  })
})

describe('plan', () => {
  it('with --exit-code says 2 while there is something to do, 0 when there is not, and touches nothing', async () => {
    expect(await machine.node('plan --exit-code', v1)).toMatchObject({ code: 2, said: { changes: true } })
    expect(await plan(v1)).toMatchObject({ code: 0 })
    expect(readdirSync(machine.etc('.'))).toEqual([])
    await apply(v1)
    const etc = snapshotTree(machine.etc('.'))
    expect(await machine.node('plan --exit-code', v1)).toMatchObject({ code: 0, said: { changes: false } })
    expect(await machine.node('plan --exit-code', v3)).toMatchObject({ code: 2 })
    expect(snapshotTree(machine.etc('.'))).toEqual(etc)
    expect(machine.current()).toBe('generations/1')
  })
})

describe('prepare', () => {
  it('brings everything into the store and activates nothing; apply then needs no server', async () => {
    const { code, said } = await machine.node<{ packages: { fresh: boolean }[] }>('prepare', v1)
    expect(code).toBe(0)
    expect(said.packages.map(({ fresh }) => fresh)).toEqual(Array(8).fill(true))
    expect(readdirSync(machine.etc('.'))).toEqual([])
    expect(machine.current()).toBeNull()
    await sources.close()
    expect(await apply(v1)).toMatchObject({ code: 0, said: { generation: 1 } })
  })
})

describe('drift', () => {
  it('is seen by status; what is missing comes back in the same generation', async () => {
    await apply(v1)
    expect(await machine.node('status --exit-code')).toMatchObject({ code: 0, said: { generation: 1, drift: [] } })
    rmSync(machine.etc('containerd/config.toml'))
    rmSync(machine.etc('systemd/system/kubelet.service'))
    symlinkSync('/dev/null', machine.etc('systemd/system/kubelet.service'))
    chmodSync(machine.etc('kubernetes/token'), 0o644)
    const { code, said } = await machine.node<{ drift: { target: string; what: string }[] }>('status')
    expect(code).toBe(0)
    expect(said.drift.map(({ target, what }) => `${target} ${what}`)).toEqual([
      'containerd/config.toml missing',
      'kubernetes/token wrong-mode',
      'systemd/system/kubelet.service replaced',
    ])
    expect(await machine.node('status --exit-code')).toMatchObject({ code: 2 })

    rmSync(machine.etc('systemd/system/kubelet.service'))
    chmodSync(machine.etc('kubernetes/token'), 0o600)
    expect(await apply(v1)).toMatchObject({ code: 0, said: { generation: 1, changed: true, units: nothingForUnits } })
    expect(await machine.node('status --exit-code')).toMatchObject({ code: 0 })
  })

  it('in a file that somebody edited is a conflict, until it is said that it may go', async () => {
    await apply(v1)
    writeFileSync(machine.etc('kubernetes/token'), 'edited\n')
    expect(await machine.node('status')).toMatchObject({ said: { drift: [{ what: 'edited' }] } })
    expect(await apply(v2)).toMatchObject({ code: 4, said: { error: { problems: [{ code: 'etc.conflict' }] } } })
    expect(inEtc('kubernetes/token')).toBe('edited\n')
    expect(machine.current()).toBe('generations/1')
    expect(await apply(v2, ' --overwrite-drift kubernetes/token')).toMatchObject({ code: 0, said: { generation: 2 } })
    expect(inEtc('kubernetes/token')).toBe('token\n')
  })
})

describe('gc', () => {
  interface Collected {
    readonly removed: readonly { readonly state: string }[]
    readonly generations: readonly number[]
    readonly dryRun: boolean
  }
  const states = () => readdirSync(machine.store('states')).filter(name => !name.startsWith('.'))

  it('removes what its dry run said, and the dry run nothing', async () => {
    for (const config of [v1, v2, v3, v1]) await apply(config)
    const neverApplied = changed(v3, copy => {
      copy.version = 'v4'
      copy.packageByNames!['containerd-config']!.source.content = 'version = 4\n'
    })
    await machine.node('prepare', neverApplied)
    const before = machine.snapshot()
    const dry = await machine.node<Collected>('gc --keep 1 --dry-run')
    expect(dry.said).toMatchObject({ dryRun: true, generations: [1, 2] })
    expect(dry.said.removed.length).toBeGreaterThan(2)
    expect(machine.snapshot()).toEqual(before)

    const had = states()
    const real = await machine.node<Collected>('gc --keep 1')
    expect({ ...real.said, dryRun: true }).toEqual(dry.said)
    expect(real.code).toBe(0)
    expect(states().sort()).toEqual(had.filter(state => !real.said.removed.some(gone => gone.state === state)).sort())
    expect(await machine.node('verify')).toMatchObject({ code: 0 })
    expect(await machine.node('rollback --to 1')).toMatchObject({ code: 4 })
    expect(await machine.node('rollback')).toMatchObject({ code: 0, said: { generation: 3 } })
  })

  it('without options lets every generation live', async () => {
    await apply(v1)
    await apply(v2)
    expect(await machine.node('gc')).toMatchObject({ code: 0, said: { removed: [], generations: [] } })
    expect(await machine.node('rollback')).toMatchObject({ code: 0, said: { generation: 1 } })
  })
})

describe('why', () => {
  it('names the way from a generation to a package, and says when there is none', async () => {
    const { said } = await machine.node<{ packages: { name: string; state: string }[] }>('prepare', v1)
    const { state } = said.packages.find(({ name }) => name === 'runc')!
    expect(await machine.node(`why ${state}`)).toMatchObject({ code: 0, said: { state, alive: false, chains: [] } })
    await apply(v1)
    const { said: why } = await machine.node<{ chains: string[][] }>(`why ${state}`)
    expect(why).toMatchObject({ state, alive: true })
    expect(why.chains).toContainEqual([
      'generation 1 (current)',
      expect.stringMatching(/^etc-/),
      expect.stringMatching(/^containerd.*-unit-/),
      state,
    ])
    expect(await machine.node('why nothing-like-it')).toMatchObject({
      code: 4,
      said: { error: { code: 'state.unknown' } },
    })
  })
})

describe('damage in the store', () => {
  const damage = (state: string, path: string) => {
    const file = machine.store(`states/${state}/${path}`)
    chmodSync(file, 0o755)
    writeFileSync(file, 'damaged')
    chmodSync(file, 0o555)
  }

  it('is named by verify and mended by --repair, from the text or from the server', async () => {
    await apply(v1)
    expect(await machine.node('verify')).toMatchObject({ code: 0, said: { damaged: [] } })
    const [config, runc] = [machine.stateOf('containerd-config'), machine.stateOf('runc')]
    damage(config, 'config.toml')
    damage(runc, 'bin/runc')
    const before = machine.snapshot()
    const { code, said } = await machine.node<{ damaged: { state: string; differences: object[] }[] }>('verify')
    expect(code).toBe(1)
    expect(said.damaged).toMatchObject([
      { state: config, differences: [{ path: 'config.toml' }] },
      { state: runc, differences: [{ path: 'bin/runc' }] },
    ])
    expect(machine.snapshot()).toEqual(before)

    const asked = sources.requests.length
    expect(await machine.node('verify --repair')).toMatchObject({
      code: 0,
      said: { damaged: [{ repaired: true }, { repaired: true }] },
    })
    expect(sources.requests.slice(asked)).toEqual(['/runc'])
    expect(await machine.node('verify')).toMatchObject({ code: 0, said: { damaged: [] } })
    expect(inEtc('containerd/config.toml')).toBe('version = 2\n')
  })

  it('that cannot be mended is left, with the reason, and no apply builds on it', async () => {
    await apply(v1)
    damage(machine.stateOf('runc'), 'bin/runc')
    await sources.close()
    const { code, said } = await machine.node<{ damaged: object[] }>('verify --repair')
    expect(code).toBe(1)
    expect(said.damaged).toMatchObject([{ repaired: false, reason: expect.stringMatching(/./) }])
    expect(await apply(v2, ' --verify')).toMatchObject({
      code: 4,
      said: { error: { code: 'preflight.failed', problems: [{ code: 'state.damaged' }] } },
    })
    expect(machine.current()).toBe('generations/1')
  }, 120_000)
})

describe('exit codes', () => {
  const withToken = (token: string) =>
    changed(v2, copy => {
      copy.packageByNames!['kubelet-secrets']!.source.content = token
    })

  it('1: what fails on the way is undone', async () => {
    await apply(v1)
    const etc = etcWithoutTimes()
    machine.user.write('machine/etc/locked/mine', '')
    chmodSync(machine.etc('locked'), 0o555)
    const intoLocked = changed(v2, copy => {
      copy.packageByNames!['containerd-config']!.etcFiles!.push({ source: 'config.toml', target: 'locked/theirs' })
    })
    const { code, said } = await apply(intoLocked)
    expect(code).toBe(1)
    expect(said).toMatchObject({ outcome: 'rolled back', generation: 1, changed: false })
    expect(said.failed[0]?.reason).toContain('EACCES')
    removeTree(realFiles, machine.etc('locked'))
    expect(etcWithoutTimes()).toEqual(etc)
    expect([machine.current(), journal()]).toEqual(['generations/1', []])
    expect(await machine.node('generations')).toMatchObject({ said: { generations: [{ generation: 1 }] } })
  })

  it('4: while another is at work, which is named', async () => {
    await apply(v1)
    const before = machine.snapshot()
    const lock = await acquireLock(machine.store('locks/apply'), { command: 'cairn node rollback', clock: realClock })
    try {
      const { code, said } = await machine.node<{ error: { code: string; message: string } }>('apply', v1)
      expect({ code, error: said.error.code }).toEqual({ code: 4, error: 'lock.busy' })
      expect(said.error.message).toMatch(new RegExp(`cairn node rollback .*${process.pid}`))
    } finally {
      lock.release()
    }
    expect(machine.snapshot()).toEqual(before)
    expect(await apply(v2)).toMatchObject({ code: 0 })
  })

  it('0 or 4: of many applies at once some are refused, and what they leave is whole', async () => {
    const codes = (await Promise.all(Array.from({ length: 6 }, () => apply(v1)))).map(({ code }) => code)
    expect(codes).toContain(0)
    expect(codes.filter(code => code !== 0 && code !== 4)).toEqual([])
    expect(await machine.node('verify')).toMatchObject({ code: 0, said: { checked: 8, damaged: [] } })
    expect(await machine.node('status --exit-code')).toMatchObject({ code: 0, said: { generation: 1 } })
  })

  it('5: a way back that is blocked is told and stays open, until the cause is gone', async () => {
    await apply(v1)
    const { said } = await apply(withToken('another\n'), ' --confirm-within 3s')
    // The file cannot be put back into a directory that may not be written.
    chmodSync(machine.etc('kubernetes'), 0o555)
    await pastDeadline(said)
    const recover = () => machine.node('recover')
    await expect.poll(recover).toMatchObject({ code: 5, said: { outcome: 'undo incomplete' } })
    expect(journal()).not.toEqual([])
    expect(await apply(v2)).toMatchObject({ code: 5, said: { outcome: 'undo incomplete', changed: false } })
    expect(await machine.node('status --exit-code')).toMatchObject({ code: 2 })

    chmodSync(machine.etc('kubernetes'), 0o755)
    expect(await machine.node('recover')).toMatchObject({ code: 0, said: { outcome: 'whole' } })
    expect([machine.current(), journal()]).toEqual(['generations/1', []])
    expect(inEtc('kubernetes/token')).toBe('token\n')
    expect(await machine.node('status --exit-code')).toMatchObject({ code: 0, said: { generation: 1, drift: [] } })
  })

  it('64: a command line that means nothing', async () => {
    for (const line of [
      'apply',
      'rollback --to x',
      'apply --frobnicate',
      'frobnicate',
      'plan -f a b',
      'gc --keep -1',
    ]) {
      const { code, said } = await machine.node(line)
      expect({ code, said }, line).toMatchObject({
        code: 64,
        said: { error: { code: expect.stringMatching(/^usage\./) } },
      })
    }
    expect(machine.snapshot()).toEqual({})
  })
})

describe('--json', () => {
  const anything = expect.anything()
  const reasoned = expect.arrayContaining([{ name: expect.any(String), reason: expect.any(String) }])

  it('answers every command with one value that a program can rely on', async () => {
    expect((await machine.node('prepare', v1)).said).toMatchObject({
      ...{ version: 'v1', etcState: expect.stringMatching(/^etc-/), warnings: [] },
      packages: expect.arrayContaining([
        { name: 'runc', kind: 'source', version: '1.1.0', state: anything, fresh: true, size: anything },
      ]),
    })
    expect((await plan(v1)).said).toMatchObject({
      ...{ version: 'v1', changes: true, warnings: [], problems: [] },
      packages: { add: expect.arrayContaining([{ name: 'runc', version: '1.1.0' }]), change: [], remove: [] },
      etc: {
        add: expect.arrayContaining([{ target: 'kubernetes/token', reason: 'new', from: 'kubelet-secrets' }]),
        ...{ change: [], remove: [], conflict: [] },
      },
      units: { ...nothingForUnits, start: reasoned },
    })
    expect((await apply(v1)).said).toMatchObject({
      ...{ generation: 1, changed: true, failed: [], warnings: [], notes: [] },
      units: { ...nothingForUnits, start: reasoned },
    })
    expect((await machine.node('generations')).said).toMatchObject({
      generations: [
        { generation: 1, version: 'v1', current: true, createdAt: anything, entries: 6, outcome: anything },
      ],
    })
    expect((await machine.node('status')).said).toMatchObject({
      ...{ generation: 1, version: 'v1', drift: [], units: [], stray: [] },
    })
    await apply(v2)
    expect((await machine.node('rollback')).said).toMatchObject({
      generation: 1,
      changed: true,
      failed: [],
      units: anything,
    })
    expect((await machine.node('gc --dry-run')).said).toMatchObject({
      ...{ dryRun: true, removed: [], generations: [], failed: [], freedBytes: 0, kept: anything, resumedTrash: 0 },
    })
    expect((await machine.node('verify')).said).toMatchObject({ checked: 11, bytes: anything, damaged: [] })
    expect((await machine.node('why etc-')).said).toMatchObject({ error: { code: 'state.ambiguous', hint: anything } })
    expect((await machine.node('recover')).said).toEqual({ recovered: [], outcome: 'whole' })
    expect((await machine.node('confirm')).said).toMatchObject({
      error: { code: 'confirm.nothing', message: anything },
    })
    expect((await machine.node('uninstall --yes')).said).toMatchObject({
      ...{ generation: null, previous: 1, changed: true, failed: [], units: { ...nothingForUnits, stop: reasoned } },
    })
  })
})

/** And past the process that a window leaves behind to look after it. */
const pastDeadline = ({ confirm }: ApplyReport) => delay(Date.parse(confirm!.deadline) - Date.now() + 2000)

const journal = () => readdirSync(machine.store('journal'))

/** Copies are written anew by each switch. */
const etcWithoutTimes = () =>
  Object.entries(snapshotTree(machine.etc('.'))).map(
    ([path, line]) => `${path}: ${line.replace(/^(file \d+ \S+) \S+/, '$1')}`,
  )
