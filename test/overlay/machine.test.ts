// The overlay on a real systemd, from nothing to uninstalled: one machine, one story, in order.
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { OverlayConfig } from '../../src/resources/overlay-config.ts'
import type { EtcSnapshot } from '../machine/etc-snapshot.ts'
import { bootMachine, type Machine } from '../machine/machine.ts'
import { describeWith, machineComponents } from '../require.ts'
import { changed, type Sources, seedConfig, serveSources } from './seed.ts'

interface Applied {
  readonly generation: number
  readonly changed: boolean
  readonly units: Record<string, { name: string; reason: string }[]>
  readonly failed: { name: string; reason: string; log: string[] }[]
}

describeWith(machineComponents, 'an overlay on a machine with a real systemd', () => {
  let machine: Machine
  let sources: Sources
  let before: EtcSnapshot
  let config: OverlayConfig

  beforeAll(async () => {
    sources = await serveSources()
    machine = await bootMachine({ name: 'atlas' })
    before = machine.snapshotEtc()
    config = seedConfig(sources)
  })
  afterAll(async () => {
    await machine?.destroy()
    await sources?.close()
  })

  const cairn = (...args: string[]) => machine.exec(['/opt/cairn/bin/cairn', 'node', ...args])

  async function apply(wanted: OverlayConfig, ...flags: string[]): Promise<{ code: number; report: Applied }> {
    await machine.writeFile('/root/overlay.json', JSON.stringify(wanted))
    const { code, stdout, stderr } = await cairn('apply', '-f', '/root/overlay.json', '--json', ...flags)
    if (!stdout) throw new Error(stderr)
    const report = JSON.parse(stdout) as Applied & { error?: object }
    if (report.error) throw new Error(stdout)
    return { code, report }
  }

  const names = (units: { name: string }[] | undefined) => (units ?? []).map(({ name }) => name)
  const show = async (unit: string, property: string) =>
    (await machine.exec(['systemctl', 'show', '-P', property, '--', unit])).stdout.trim()
  const pidOf = (unit: string) => show(unit, 'MainPID')
  /** No switch is open and nobody holds the lock any more. */
  const isSettled = async () =>
    (await machine.exec(['ls', '/cairn/journal'])).stdout === '' &&
    (await machine.exec(['flock', '-n', '/cairn/locks/apply', 'true'])).code === 0
  const stateOf = (unit: string) => show(unit, 'ActiveState')

  it('goes from nothing to running units', async () => {
    const { code, report } = await apply(config)
    expect(report).toMatchObject({ generation: 1, changed: true, failed: [] })
    expect(code).toBe(0)
    expect(await stateOf('containerd.service')).toBe('active')
    expect(await stateOf('kubelet.service')).toBe('active')
    expect((await machine.exec(['readlink', '/etc/containerd/config.toml'])).stdout.trim()).toBe(
      '../../cairn/etc/static/containerd/config.toml',
    )
    expect((await machine.exec(['stat', '-c', '%a %U %G', '/etc/kubernetes/token'])).stdout.trim()).toBe(
      '600 root daemon',
    )
    expect(await show('containerd.service', 'Environment')).toMatch(
      /^PATH=\/cairn\/states\/containerd-[a-z2-7]{52}\/bin:\/cairn\/states\/runc-[a-z2-7]{52}\/bin$/,
    )
  })

  it('does nothing the second time: no restart, no new generation, no request, no write', async () => {
    const [pid, asked] = [await pidOf('containerd.service'), sources.requests.length]
    await machine.exec(['touch', '/root/stamp'])
    const { code, report } = await apply(config)
    expect({ code, changed: report.changed, generation: report.generation }).toEqual({
      code: 0,
      changed: false,
      generation: 1,
    })
    expect(await pidOf('containerd.service')).toBe(pid)
    expect(sources.requests.length).toBe(asked)
    const written = ['find', '/cairn', '/etc', '-newer', '/root/stamp', '-not', '-path', '/cairn/locks*']
    expect((await machine.exec(written)).stdout).toBe('')
  })

  it('restarts just the unit whose template changed, and says why', async () => {
    const [containerd, kubelet] = [await pidOf('containerd.service'), await pidOf('kubelet.service')]
    config = changed(config, copy => {
      const unit = copy.systemdUnitsByName!.kubelet!
      unit.templateInline = unit.templateInline.replace('--v=2', '--v=4')
    })
    const { report } = await apply(config)
    expect(report.units.restart).toEqual([{ name: 'kubelet.service', reason: 'ExecStart changed' }])
    expect(await pidOf('containerd.service')).toBe(containerd)
    expect(await pidOf('kubelet.service')).not.toBe(kubelet)
  })

  it('leaves the process alone when only the description changed', async () => {
    const pid = await pidOf('kubelet.service')
    config = changed(config, copy => {
      const unit = copy.systemdUnitsByName!.kubelet!
      unit.templateInline = unit.templateInline.replace('Description=kubelet', 'Description=the kubelet')
    })
    const { report } = await apply(config)
    expect(report.changed).toBe(true)
    expect(await pidOf('kubelet.service')).toBe(pid)
    expect(await show('kubelet.service', 'Description')).toBe('the kubelet')
  })

  it('reloads when only a config file changed', async () => {
    const pid = await pidOf('containerd.service')
    config = changed(config, copy => {
      copy.packageByNames!['containerd-config']!.source.content = 'version = 2\nroot = "/var"\n'
    })
    const { report } = await apply(config)
    expect(report.units.reload).toEqual([
      { name: 'containerd.service', reason: expect.stringContaining('containerd/config.toml changed') },
    ])
    expect(await pidOf('containerd.service')).toBe(pid)
    expect(await machine.readFile('/run/containerd-reloads')).toBe('reloaded\n')
    expect(await machine.readFile('/etc/containerd/config.toml')).toContain('root = "/var"')
  })

  it('brings the units back after a reboot', async () => {
    await machine.reboot()
    expect(await stateOf('containerd.service')).toBe('active')
    expect(await stateOf('kubelet.service')).toBe('active')
  })

  it('goes back when a unit fails, and says what failed', async () => {
    const broken = changed(config, copy => {
      const unit = copy.systemdUnitsByName!.kubelet!
      unit.templateInline = unit.templateInline.replace(/ExecStart=.*/, 'ExecStart=/bin/sh -c "echo no luck; exit 7"')
      copy.packageByNames!['containerd-config']!.source.content = 'broken\n'
    })
    const generation = (await apply(config)).report.generation
    const { code, report } = await apply(broken)
    expect(code).toBe(1)
    expect(names(report.failed)).toEqual(['kubelet.service'])
    expect(report.failed[0]?.log.join('\n')).toContain('no luck')
    expect(report.generation).toBe(generation)
    expect(await stateOf('kubelet.service')).toBe('active')
    expect(await show('kubelet.service', 'ExecStart')).toContain('--v=4')
    expect(await machine.readFile('/etc/containerd/config.toml')).not.toContain('broken')
  })

  it('keeps the failed generation when told so', async () => {
    const broken = changed(config, copy => {
      const unit = copy.systemdUnitsByName!.kubelet!
      unit.templateInline = unit.templateInline.replace(/ExecStart=.*/, 'ExecStart=/bin/false')
    })
    const { code, report } = await apply(broken, '--no-rollback')
    expect(code).toBe(6)
    expect(names(report.failed)).toEqual(['kubelet.service'])
    expect(await stateOf('kubelet.service')).toBe('failed')
    const fixed = await apply(config)
    expect(fixed.code).toBe(0)
    expect(await stateOf('kubelet.service')).toBe('active')
  })

  it('goes back when a check does not hold', async () => {
    const unhealthy = changed(config, copy => {
      copy.checks = [{ name: 'ready', file: '/run/kubelet-is-ready', within: '1s' }]
    })
    const { code, report } = await apply(unhealthy)
    expect(code).toBe(1)
    expect(report.failed).toEqual([
      expect.objectContaining({ name: 'ready', reason: expect.stringContaining('does not exist') }),
    ])
  })

  it('rolls back to any generation with the network off', async () => {
    const { stdout } = await cairn('generations', '--json')
    expect((JSON.parse(stdout) as { generations: { generation: number }[] }).generations.at(-1)?.generation).toBe(1)
    const { code } = await machine.exec([
      'unshare',
      '-n',
      '/opt/cairn/bin/cairn',
      'node',
      'rollback',
      '--to',
      '1',
      '--json',
    ])
    expect(code).toBe(0)
    expect(await show('kubelet.service', 'ExecStart')).toContain('--v=2')
    expect(await stateOf('kubelet.service')).toBe('active')
    expect((await apply(config)).code).toBe(0)
  })

  it('takes an unconfirmed apply back when its time is up', async () => {
    const risky = changed(config, copy => {
      copy.packageByNames!['containerd-config']!.source.content = 'risky\n'
    })
    expect((await apply(risky, '--confirm-within', '2s')).code).toBe(0)
    expect(await machine.readFile('/etc/containerd/config.toml')).toBe('risky\n')
    await until(isSettled)
    expect(await machine.readFile('/etc/containerd/config.toml')).not.toContain('risky')
    expect(await stateOf('containerd.service')).toBe('active')
  })

  it('takes an unconfirmed apply back at boot, and keeps a confirmed one', async () => {
    const risky = changed(config, copy => {
      copy.packageByNames!['containerd-config']!.source.content = 'riskier\n'
    })
    await apply(risky, '--confirm-within', '1h')
    await machine.powerCut()
    await machine.start()
    await until(isSettled)
    expect(await machine.readFile('/etc/containerd/config.toml')).not.toContain('riskier')

    await apply(risky, '--confirm-within', '1h')
    expect((await cairn('confirm')).code).toBe(0)
    await machine.reboot()
    expect(await machine.readFile('/etc/containerd/config.toml')).toBe('riskier\n')
    expect((await apply(config)).code).toBe(0)
  })

  it('stops a unit that is gone and removes its entries from /etc', async () => {
    config = changed(config, copy => {
      delete copy.systemdUnitsByName!.kubelet
      delete copy.packageByNames!['kubelet-secrets']
    })
    const { report } = await apply(config)
    expect(names(report.units.stop)).toEqual(['kubelet.service'])
    expect(await show('kubelet.service', 'LoadState')).toBe('not-found')
    expect((await machine.exec(['ls', '/etc/kubernetes'])).code).not.toBe(0)
  })

  it('gives /etc back byte for byte', async () => {
    expect((await cairn('uninstall', '--yes')).code).toBe(0)
    expect(await stateOf('containerd.service')).toBe('inactive')
    expect(machine.snapshotEtc()).toEqual(before)
  })
})

async function until(holds: () => Promise<boolean>) {
  for (const deadline = Date.now() + 60_000; !(await holds()); )
    if (Date.now() > deadline) throw new Error('it did not come to hold within a minute')
    else await new Promise(done => setTimeout(done, 200))
}
