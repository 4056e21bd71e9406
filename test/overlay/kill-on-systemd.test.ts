// kill -9 and power cuts at every phase of an apply on a real systemd. The places are found by watching a run that is left
// alone: each phase is announced by a rename of its mark in the journal.
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { OverlayConfig } from '../../src/resources/overlay-config.ts'
import { bootMachine, type Machine } from '../machine/machine.ts'
import { describeWith, machineComponents } from '../require.ts'
import { changed, type Sources, seedConfig, serveSources } from './seed.ts'

const renames = 'rename,renameat,renameat2'
const cairn = '/opt/cairn/bin/cairn'

describeWith([...machineComponents, 'strace'], 'an apply that is killed on a real systemd', () => {
  let machine: Machine
  let sources: Sources
  const configs: Record<string, OverlayConfig> = {}

  beforeAll(async () => {
    sources = await serveSources()
    machine = await bootMachine({ name: 'borea' })
    configs.old = seedConfig(sources)
    configs.new = changed(configs.old, copy => {
      const unit = copy.systemdUnitsByName!.kubelet!
      unit.templateInline = unit.templateInline.replace('--v=2', '--v=4')
      copy.packageByNames!['containerd-config']!.source.content = 'new\n'
      copy.packageByNames!['kubelet-secrets']!.source.content = 'new token\n'
    })
    for (const [name, config] of Object.entries(configs))
      await machine.writeFile(`/root/${name}.json`, JSON.stringify(config))
  })
  afterAll(async () => {
    await machine?.destroy()
    await sources?.close()
  })

  const apply = (name: string) => [cairn, 'node', 'apply', '-f', `/root/${name}.json`, '--json']

  async function mustRun(command: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await machine.exec(command)
    expect(code, `${command.join(' ')}\n${stdout}${stderr}`).toBe(0)
    return stdout
  }

  /** Which of the two generations runs; throws when it is neither, or a mix. */
  async function whichRuns(): Promise<string> {
    const status = JSON.parse(await mustRun([cairn, 'node', 'status', '--json'])) as Record<string, unknown>
    expect(status).toMatchObject({ drift: [] })
    expect(status.openJournal).toBeUndefined()
    const seen = {
      file: (await machine.readFile('/etc/containerd/config.toml')) === 'new\n' ? 'new' : 'old',
      copy: (await machine.readFile('/etc/kubernetes/token')) === 'new token\n' ? 'new' : 'old',
      unit: (await mustRun(['systemctl', 'show', '-P', 'ExecStart', 'kubelet.service'])).includes('--v=4')
        ? 'new'
        : 'old',
      process: (
        await mustRun(['sh', '-c', 'tr "\\0" " " < /proc/$(systemctl show -P MainPID kubelet)/cmdline'])
      ).includes('--v=4')
        ? 'new'
        : 'old',
    }
    expect(new Set(Object.values(seen)).size, JSON.stringify(seen)).toBe(1)
    for (const unit of ['containerd', 'kubelet'])
      expect((await mustRun(['systemctl', 'show', '-P', 'ActiveState', unit])).trim(), unit).toBe('active')
    return seen.file
  }

  /** Numbers of the renames that announce a phase, and the phases' names. */
  async function phasesOf(): Promise<{ at: number; phase: string }[]> {
    // Once each way first, so that the run that is watched, like those that are killed, has nothing to install.
    for (const name of ['old', 'new', 'old']) await mustRun(apply(name))
    await mustRun([
      'strace',
      '-f',
      '-s',
      '200',
      '-o',
      '/root/renames',
      '-e',
      `trace=${renames},write`,
      '--',
      ...apply('new'),
    ])
    const lines = (await machine.readFile('/root/renames')).split('\n')
    const found: { at: number; phase: string }[] = []
    let count = 0
    let lastPhase = ''
    for (const line of lines) {
      lastPhase = /\\"phase\\":\\"([a-z-]+)\\"/.exec(line)?.[1] ?? lastPhase
      if (!/ rename(at2?)?\(/.test(line)) continue
      count++
      if (line.includes('.phase"')) found.push({ at: count, phase: lastPhase })
    }
    return found
  }

  it('is in the old generation or the new one after kill -9 at each phase, before its mark and right after it', async () => {
    const phases = await phasesOf()
    expect(phases.map(({ phase }) => phase)).toEqual(
      expect.arrayContaining(['stop', 'before', 'switch', 'after', 'reload-daemon', 'act', 'settle', 'commit']),
    )
    const results: string[] = []
    for (const { at, phase } of phases)
      for (const place of [at, at + 1]) {
        await mustRun(apply('old'))
        const killed = await machine.exec([
          ...['strace', '-f', '-o', '/dev/null', '-e', `trace=${renames}`],
          ...['-e', `inject=${renames}:signal=SIGKILL:when=${place}`, '--', ...apply('new')],
        ])
        if (killed.code === 0) continue // no rename came after the last phase
        await mustRun([cairn, 'node', 'recover'])
        results.push(`${phase}+${place - at}: ${await whichRuns()}`)
      }
    console.log(results.join(', '))
    expect(results.some(result => result.endsWith('old'))).toBe(true)
    expect(results.some(result => result.endsWith('new'))).toBe(true)
  })

  it('mends itself at boot after a power cut in the middle', async () => {
    const phases = await phasesOf()
    for (const phase of ['before', 'after', 'act']) {
      await mustRun(apply('old'))
      const { at } = phases.find(found => found.phase === phase)!
      const stopped = machine.exec([
        ...['strace', '-f', '-o', '/dev/null', '-e', `trace=${renames}`],
        ...['-e', `inject=${renames}:signal=SIGKILL:when=${at + 1}`, '--', ...apply('new')],
      ])
      await stopped
      await machine.powerCut()
      await machine.start()
      for (const deadline = Date.now() + 60_000; (await machine.exec(['ls', '/cairn/journal'])).stdout !== ''; )
        if (Date.now() > deadline) throw new Error(`${phase}: the journal is still open a minute after the boot`)
      await mustRun([cairn, 'node', 'recover'])
      expect(['old', 'new']).toContain(await whichRuns())
    }
  })
})
