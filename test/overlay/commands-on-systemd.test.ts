// The commands of a machine with a real systemd that take time, leave something running or look at what runs: one machine,
// one story, in order.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bootMachine, type Machine } from '../machine/machine.ts'
import { describeWith, machineComponents } from '../require.ts'
import { daemon, names, type Story, storyOn, until } from './on-machine.ts'

describeWith(machineComponents, 'the commands of a machine with a real systemd', () => {
  let machine: Machine
  let story: Story

  beforeAll(async () => {
    machine = await bootMachine({ name: 'commands' })
    story = storyOn(machine)
  })
  afterAll(() => machine?.destroy())

  const current = async () => (await machine.exec(['readlink', '/cairn/current'])).stdout.trim()
  async function ask<T>(...args: string[]): Promise<{ code: number; answer: T }> {
    const { code, stdout, stderr } = await story.cairn([...args, '--json'])
    if (!stdout) throw new Error(`cairn node ${args.join(' ')} ended with ${code}: ${stderr}`)
    return { code, answer: JSON.parse(stdout) as T }
  }
  const statesOf = async (name: string) =>
    (await machine.exec(['sh', '-c', `cd /cairn/states && ls -d ${name}-*`])).stdout.split('\n').filter(Boolean)

  describe('apply --detach', () => {
    let unit: string

    it('returns at once, while the apply goes on in a unit of its own', async () => {
      const command = await story.applyCommand({
        units: {
          slow: daemon('ExecStartPre=/bin/sleep 30'),
          notifying: `[Service]
Type=notify
NotifyAccess=all
ExecStart=/bin/sh -c "sleep 30; systemd-notify --ready; exec sleep infinity"
[Install]
WantedBy=multi-user.target
`,
          after: `[Unit]\nAfter=slow.service notifying.service\n${daemon()}`,
        },
      })
      const { code, stdout } = await machine.exec([...command, '--detach', '--json'])
      expect(code).toBe(0)
      unit = (JSON.parse(stdout) as { unit: string }).unit
      await until('slow.service is on its way', async () => (await story.stateOf('slow')) === 'activating')
      expect(await story.stateOf(unit)).toBe('active')
      expect(await story.stateOf('after')).toBe('inactive')
    })

    it('holds the lock meanwhile: a second apply is refused and told by whom', async () => {
      const pid = await story.pidOf(unit)
      const { code, answer } = await ask<{ error: { code: string; message: string } }>(
        'apply',
        '-f',
        '/root/overlay.json',
      )
      expect({ code, error: answer.error.code }).toEqual({ code: 4, error: 'lock.busy' })
      expect(answer.error.message).toContain(`cairn node apply -f /root/overlay.json`)
      expect(answer.error.message).toContain(`pid ${pid}`)
    })

    it('answers questions meanwhile', async () => {
      const { code, answer } = await ask<{ openJournal: string }>('status')
      expect(code).toBe(0)
      expect(answer.openJournal).toContain('not finished')
    })

    it('waits for units that need half a minute, and does not take them for failed', async () => {
      await until('the apply is over', story.isSettled)
      for (const name of ['slow', 'notifying', 'after']) expect(await story.stateOf(name), name).toBe('active')
      const { answer } = await ask<{ generations: { generation: number; current: boolean; outcome: string }[] }>(
        'generations',
      )
      expect(answer.generations).toMatchObject([{ generation: 1, current: true, outcome: 'healthy' }])
      expect(await story.show(unit, 'LoadState')).toBe('not-found')
      await story.apply({ units: { slow: null, notifying: null } })
    })
  })

  it('switches with --test until the next boot only', async () => {
    const before = await current()
    const { code } = await story.apply({ units: { tried: daemon(), after: null } }, { flags: ['--test'] })
    expect(code).toBe(0)
    expect(await story.stateOf('tried')).toBe('active')
    expect(await story.stateOf('after')).toBe('inactive')
    expect(await current()).toBe(before)

    await machine.reboot()
    await until('the boot has taken it back', story.isSettled)
    expect(await current()).toBe(before)
    expect(await story.show('tried', 'LoadState')).toBe('not-found')
    expect(await story.stateOf('after')).toBe('active')
  })

  describe('gc', () => {
    it('keeps the package of a process that outlived its unit, and says which process that is', async () => {
      await story.apply({
        packages: { tool: { version: '1', source: { type: 'file', uri: '/usr/bin/sleep' } } },
        units: {
          tried: null,
          tool: {
            version: '1',
            packages: ['tool'],
            templateInline:
              '[Service]\nExecStart={{.GetPackagePath "tool" "bin" "tool"}} infinity\nX-StopOnRemoval=false\n[Install]\nWantedBy=multi-user.target\n',
          },
        },
      })
      const pid = await story.pidOf('tool')
      const [state = ''] = await statesOf('tool')
      await story.apply({ packages: { tool: null }, units: { tool: null } })
      await story.apply({ units: { later: daemon() } })

      const { code, answer: freed } = await ask<{ removed: { state: string }[] }>('gc', '--keep', '1')
      expect(code).toBe(0)
      expect(JSON.stringify(freed.removed)).not.toContain(state)
      expect(await statesOf('tool')).toEqual([state])
      const { answer: why } = await ask<{ alive: boolean; chains: string[][] }>('why', state)
      expect(why.chains).toContainEqual([`process ${pid} (tool): /proc/${pid}/exe`, state])
      expect(why.chains.map(([root]) => root)).toEqual(why.chains.map(() => expect.stringContaining(`process ${pid} `)))

      await machine.exec(['systemctl', 'stop', 'tool'])
      await ask('gc')
      expect(await statesOf('tool')).toEqual([])
    })
  })

  describe('verify', () => {
    const content = 'a = 1\n'

    it('names the file that was damaged, and apply refuses to use it', async () => {
      const settings = {
        version: '1',
        source: { type: 'inline' as const, content, path: 'settings.conf' },
        etcFiles: [{ source: 'settings.conf', target: 'app/settings.conf' }],
      }
      await story.apply({ packages: { settings } })
      const [state = ''] = await statesOf('settings')
      await machine.writeFile(`/cairn/states/${state}/settings.conf`, 'a = 2, by hand\n')

      const { code, answer } = await ask<{ damaged: { state: string; differences: { path: string }[] }[] }>('verify')
      expect(code).toBe(1)
      expect(answer.damaged).toMatchObject([{ state, differences: [{ path: 'settings.conf' }] }])
      await expect(story.apply({ units: { late: daemon() } })).rejects.toThrow('state.damaged')
      expect(await story.show('late', 'LoadState')).toBe('not-found')
    })

    it('mends it from what the config says, and apply goes on', async () => {
      const { code, answer } = await ask<{ damaged: { repaired: boolean }[] }>('verify', '--repair')
      expect(code).toBe(0)
      expect(answer.damaged).toMatchObject([{ repaired: true }])
      expect(await machine.readFile('/etc/app/settings.conf')).toBe(content)
      expect((await ask('verify')).code).toBe(0)
      const { code: applied, units } = await story.apply({})
      expect(applied).toBe(0)
      expect(names(units.start)).toEqual(['late.service'])
    })
  })
})
