// What becomes of units on a real systemd when their definition comes, changes or goes: one machine, one config that grows.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bootMachine, type Machine } from '../machine/machine.ts'
import { describeWith, machineComponents } from '../require.ts'
import { daemon, names, type Story, storyOn, until } from './on-machine.ts'

describeWith(machineComponents, 'units on a real systemd', () => {
  let machine: Machine
  let story: Story

  beforeAll(async () => {
    machine = await bootMachine({ name: 'units' })
    story = storyOn(machine)
  })
  afterAll(() => machine?.destroy())

  const systemctl = async (...args: string[]) => {
    const { code, stdout, stderr } = await machine.exec(['systemctl', ...args])
    if (code !== 0) throw new Error(`systemctl ${args.join(' ')} ended with ${code}: ${stderr}`)
    return stdout.trim()
  }
  const exists = async (path: string) => (await machine.exec(['test', '-e', path])).code === 0
  const environmentOf = async (unit: string) => machine.readFile(`/proc/${await story.pidOf(unit)}/environ`)

  describe('a timer', () => {
    const timer = (when: string) => `[Timer]\n${when}\n[Install]\nWantedBy=timers.target\n`

    it('is active as soon as it is there, and what it runs is left to it', async () => {
      const { units } = await story.apply({
        units: {
          'tidy.timer': timer('OnCalendar=2100-01-01'),
          'tidy.service': '[Service]\nType=oneshot\nExecStart=/bin/touch /run/tidied\n',
        },
      })
      expect(names(units.start)).toEqual(['tidy.timer'])
      expect(await story.stateOf('tidy.timer')).toBe('active')
      expect(await exists('/run/tidied')).toBe(false)
    })

    it('is restarted when it changed, and runs at its new time', async () => {
      const before = await story.show('tidy.timer', 'InvocationID')
      const { units } = await story.apply({ units: { 'tidy.timer': timer('OnActiveSec=1s\nAccuracySec=1ms') } })
      expect(units.restart).toEqual([{ name: 'tidy.timer', reason: expect.stringContaining('OnActiveSec') }])
      expect(await story.show('tidy.timer', 'InvocationID')).not.toBe(before)
      await until('the timer has run its service', () => exists('/run/tidied'))
    })

    it('is stopped when it is gone', async () => {
      await story.apply({ units: { 'tidy.timer': null, 'tidy.service': null } })
      expect(await story.stateOf('tidy.timer')).toBe('inactive')
    })
  })

  describe('a mask', () => {
    it("stops the distribution's unit and keeps it from being started", async () => {
      await machine.writeFile('/usr/lib/systemd/system/noisy.service', daemon())
      await systemctl('daemon-reload')
      await systemctl('start', 'noisy.service')
      const { units } = await story.apply({
        units: { 'noisy.service': { version: '1', templateInline: daemon(), masked: true } },
      })
      expect(units.stop).toEqual([{ name: 'noisy.service', reason: 'masked' }])
      expect(await story.stateOf('noisy.service')).toBe('inactive')
      expect(await story.show('noisy.service', 'LoadState')).toBe('masked')
      await expect(systemctl('start', 'noisy.service')).rejects.toThrow('masked')
    })

    it('gives the unit back when it goes', async () => {
      await story.apply({ units: { 'noisy.service': null } })
      expect(await story.show('noisy.service', 'LoadState')).toBe('loaded')
      await systemctl('start', 'noisy.service')
    })
  })

  describe('an alias', () => {
    const aliased = (...aliases: string[]) => `${daemon()}${aliases.map(alias => `Alias=${alias}\n`).join('')}`

    it('is a second name of one unit', async () => {
      await story.apply({ units: { web: aliased('www.service', 'http.service') } })
      expect(await story.show('www.service', 'Id')).toBe('web.service')
      expect((await story.show('web.service', 'Names')).split(' ').sort()).toEqual([
        'http.service',
        'web.service',
        'www.service',
      ])
    })

    it('goes without touching the unit, and its name is free for another', async () => {
      const pid = await story.pidOf('web.service')
      const { units } = await story.apply({ units: { web: aliased('http.service'), www: daemon() } })
      expect(names(units.start)).toEqual(['www.service'])
      expect(await story.pidOf('web.service')).toBe(pid)
      expect(await story.show('www.service', 'Id')).toBe('www.service')
      expect(await story.show('http.service', 'Id')).toBe('web.service')
    })

    it('takes the place of a unit, which is stopped first', async () => {
      const [web, www] = [await story.pidOf('web.service'), await story.pidOf('www.service')]
      const { units } = await story.apply({ units: { web: aliased('www.service'), www: null } })
      expect(units.stop).toEqual([{ name: 'www.service', reason: 'now an alias of web.service' }])
      expect(await story.pidOf('www.service')).toBe(web)
      expect(await exists(`/proc/${www}`)).toBe(false)
      await story.apply({ units: { web: null } })
    })
  })

  describe('a unit that says how it wants to be treated', () => {
    it('is started when it is new, but never with X-OnlyManualStart', async () => {
      const { units } = await story.apply({
        units: {
          kept: daemon('X-RestartIfChanged=false'),
          reloading: daemon('X-ReloadIfChanged=true', 'ExecReload=/bin/sh -c "echo $MAINPID >> /run/reloading"'),
          lasting: daemon('X-StopOnRemoval=false'),
          manual: daemon('X-OnlyManualStart=true'),
          paused: daemon(),
          failing: daemon(),
        },
      })
      expect(units.skip).toEqual([{ name: 'manual.service', reason: 'new; X-OnlyManualStart' }])
      expect(await story.stateOf('manual.service')).toBe('inactive')
      for (const unit of ['kept', 'reloading', 'lasting', 'paused', 'failing'])
        expect(await story.stateOf(`${unit}.service`), unit).toBe('active')
    })

    it('is kept, reloaded, left stopped or started again as it says when it changes, and the report says why', async () => {
      const [kept, reloading] = [await story.pidOf('kept'), await story.pidOf('reloading')]
      await systemctl('stop', 'paused')
      await systemctl('kill', '--signal=SEGV', 'failing')
      await until('it has failed', async () => (await story.stateOf('failing')) === 'failed')
      const more = 'Environment=CHANGED=yes'
      const { code, units } = await story.apply({
        units: {
          kept: daemon('X-RestartIfChanged=false', more),
          reloading: daemon('X-ReloadIfChanged=true', 'ExecReload=/bin/sh -c "echo $MAINPID >> /run/reloading"', more),
          manual: daemon('X-OnlyManualStart=true', more),
          paused: daemon(more),
          failing: daemon(more),
          // So that multi-user.target has one more to pull in.
          another: daemon(),
        },
      })
      expect({ code, ...units }).toMatchObject({
        code: 0,
        stop: [],
        restart: [],
        reload: [{ name: 'reloading.service', reason: 'Environment changed' }],
        start: [
          { name: 'another.service', reason: 'new' },
          { name: 'failing.service', reason: 'failed, and Environment changed' },
        ],
        skip: [{ name: 'kept.service', reason: 'Environment changed; X-RestartIfChanged=false' }],
      })
      expect([await story.pidOf('kept'), await story.pidOf('reloading')]).toEqual([kept, reloading])
      expect(await machine.readFile('/run/reloading')).toBe(`${reloading}\n`)
      expect(await story.stateOf('failing')).toBe('active')
      expect(await story.stateOf('paused')).toBe('inactive')
      expect(await story.stateOf('manual')).toBe('inactive')
    })

    it('runs on after its removal with X-StopOnRemoval=false', async () => {
      const pid = await story.pidOf('lasting')
      const { units } = await story.apply({ units: { lasting: null } })
      expect(units.skip).toEqual([{ name: 'lasting.service', reason: 'no longer declared; X-StopOnRemoval=false' }])
      expect(await story.pidOf('lasting')).toBe(pid)
      await systemctl('stop', 'lasting')
    })
  })

  describe('a unit that belongs to others', () => {
    it('comes back with the unit that it requires, when that one is stopped and started', async () => {
      const [base, needy] = [daemon(), `[Unit]\nRequires=base.service\nAfter=base.service\n${daemon()}`]
      await story.apply({ units: { base, needy } })
      const pid = await story.pidOf('needy')
      const { units } = await story.apply({ units: { base: daemon('Environment=A=b') } })
      expect(units.restart).toEqual([
        { name: 'base.service', reason: 'Environment changed' },
        { name: 'needy.service', reason: 'needs base.service' },
      ])
      expect(await story.stateOf('needy')).toBe('active')
      expect(await story.pidOf('needy')).not.toBe(pid)
    })

    it('comes up when a target newly wants it, and its siblings that were stopped stay so', async () => {
      const part = (...lines: string[]) => daemon(...lines).replace('multi-user.target', 'app.target')
      await story.apply({
        units: { 'app.target': '[Install]\nWantedBy=multi-user.target\n', first: part(), resting: part() },
      })
      await systemctl('stop', 'resting')
      const { units } = await story.apply({ units: { second: part(), byhand: part('X-OnlyManualStart=true') } })
      expect(names(units.start)).toEqual(['second.service'])
      for (const unit of ['first', 'second']) expect(await story.stateOf(unit), unit).toBe('active')
      for (const unit of ['resting', 'byhand']) expect(await story.stateOf(unit), unit).toBe('inactive')
    })
  })

  describe('a drop-in', () => {
    it("restarts the distribution's unit that it changes, and again when it is taken back", async () => {
      await machine.writeFile('/usr/lib/systemd/system/theirs.service', daemon('Environment=FROM=distribution'))
      await systemctl('daemon-reload')
      await systemctl('start', 'theirs')
      const dropIn = {
        version: '1',
        source: { type: 'inline' as const, content: '[Service]\nEnvironment=FROM=cairn\n', path: 'from.conf' },
        etcFiles: [{ source: 'from.conf', target: 'systemd/system/theirs.service.d/from.conf' }],
      }
      const given = await story.apply({ packages: { theirs: dropIn } })
      expect(given.units.restart).toEqual([{ name: 'theirs.service', reason: 'drop-in from.conf added' }])
      expect(await environmentOf('theirs')).toContain('FROM=cairn')

      const taken = await story.apply({ packages: { theirs: null } })
      expect(taken.units.restart).toEqual([{ name: 'theirs.service', reason: 'drop-in from.conf removed' }])
      expect(await environmentOf('theirs')).toContain('FROM=distribution')
    })

    it('of our own unit restarts it', async () => {
      const unit = { version: '1', templateInline: daemon() }
      await story.apply({ units: { ours: unit } })
      const { units } = await story.apply({
        units: { ours: { ...unit, dropIns: { 'more.conf': '[Service]\nEnvironment=MORE=yes\n' } } },
      })
      expect(units.restart).toEqual([{ name: 'ours.service', reason: 'drop-in more.conf added' }])
      expect(await environmentOf('ours')).toContain('MORE=yes')
    })
  })

  it('restarts the instances of a template that changed, those of an operator too', async () => {
    const template = (version: string) => `${daemon(`Environment=V=${version}-%i`)}DefaultInstance=a\n`
    const first = await story.apply({ units: { 'many@.service': template('1') } })
    expect(names(first.units.start)).toEqual(['many@a.service'])
    await systemctl('start', 'many@b.service')
    const { units } = await story.apply({ units: { 'many@.service': template('2') } })
    expect(names(units.restart)).toEqual(['many@a.service', 'many@b.service'])
    expect(await environmentOf('many@a')).toContain('V=2-a')
    expect(await environmentOf('many@b')).toContain('V=2-b')

    const { units: last } = await story.apply({ units: { 'many@.service': null } })
    expect(names(last.stop)).toEqual(['many@a.service', 'many@b.service'])
    expect(await story.stateOf('many@b.service')).toBe('inactive')
  })

  describe.each([
    { way: 'by bus', env: {} },
    { way: 'by systemctl where the bus is out of reach', env: { DBUS_SYSTEM_BUS_ADDRESS: 'unix:path=/run/nowhere' } },
  ])('$way', ({ env }) => {
    const odd = ['-x.service', 'a\\x2db.service']

    it('starts, restarts and stops units with names that programs stumble over', async () => {
      const both = (unit: string | null) => ({ units: Object.fromEntries(odd.map(name => [name, unit])) })
      const started = await story.apply(both(daemon()), { env })
      expect(names(started.units.start)).toEqual(odd)
      const pids = await Promise.all(odd.map(story.pidOf))
      const restarted = await story.apply(both(daemon('Environment=A=b')), { env })
      expect(names(restarted.units.restart)).toEqual(odd)
      for (const [index, name] of odd.entries()) {
        expect(await story.stateOf(name), name).toBe('active')
        expect(await story.pidOf(name), name).not.toBe(pids[index])
      }
      const stopped = await story.apply(both(null), { env })
      expect(names(stopped.units.stop)).toEqual(odd)
      for (const name of odd) expect(await story.show(name, 'LoadState'), name).toBe('not-found')
    })

    it('reloads, keeps a window, and takes back what fails', async () => {
      const reloadable = (...lines: string[]) => daemon('ExecReload=/bin/touch /run/reloaded', ...lines)
      await story.apply({ units: { ready: reloadable() } }, { env })
      const reloaded = await story.apply(
        { units: { ready: reloadable('ExecReload=/bin/touch /run/reloaded-twice') } },
        { env },
      )
      expect(names(reloaded.units.reload)).toEqual(['ready.service'])
      expect(await exists('/run/reloaded-twice')).toBe(true)

      const window = await story.apply({ units: { ready: daemon() } }, { env, flags: ['--confirm-within', '1s'] })
      expect(window.code).toBe(0)
      await until('the unconfirmed switch is taken back', story.isSettled)
      expect(await story.show('ready', 'ExecReload')).toContain('reloaded-twice')

      const failed = await story.apply({ units: { ready: '[Service]\nExecStart=/bin/false\n' } }, { env })
      expect({ code: failed.code, failed: names(failed.failed) }).toEqual({ code: 1, failed: ['ready.service'] })
      expect(await story.stateOf('ready')).toBe('active')
      await story.apply({ units: { ready: null } }, { env })
      await machine.exec(['rm', '-f', '/run/reloaded', '/run/reloaded-twice'])
    })
  })
})
