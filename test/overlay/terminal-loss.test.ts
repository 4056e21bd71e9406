// A switch whose terminal goes away on a real systemd: the ssh connection breaks, the pipe closes, somebody sends SIGHUP.
// It is never looked after by a later command here: what was begun has to come to its end by itself.
import { readdirSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { isErrno } from '../../src/lib/errors.ts'
import { bootMachine, type Machine } from '../machine/machine.ts'
import { describeWith, machineComponents } from '../require.ts'
import { daemon, type Story, storyOn, until } from './on-machine.ts'

describeWith([...machineComponents, 'strace'], 'a switch whose terminal goes away', () => {
  let machine: Machine
  let story: Story
  let value = 0

  beforeAll(async () => {
    machine = await bootMachine({ name: 'terminal' })
    story = storyOn(machine)
    await story.apply(nextChange())
  })
  afterAll(() => machine?.destroy())

  /** Each takes a while to stop and to start, so that the phases can be met. */
  function nextChange() {
    value++
    const slow = daemon('ExecStartPre=/bin/sleep 1', 'ExecStop=/bin/sleep 1', `Environment=VALUE=${value}`)
    const source = { type: 'inline', content: `${value}\n`, path: 'value' } as const
    return {
      packages: { value: { version: '1', source, etcFiles: [{ source: 'value', target: 'app/value' }] } },
      units: { one: slow, two: slow },
    }
  }

  async function expectFinished() {
    await until('the switch is over', story.isSettled)
    expect(await machine.readFile('/etc/app/value')).toBe(`${value}\n`)
    for (const unit of ['one', 'two']) {
      expect(await story.stateOf(unit), unit).toBe('active')
      expect(await machine.readFile(`/proc/${await story.pidOf(unit)}/environ`)).toContain(`VALUE=${value}\0`)
    }
    const report = JSON.parse(await machine.readFile('/cairn/current/report.json')) as { outcome: string }
    expect(report.outcome).toBe('healthy')
  }

  /** Null when none is open. */
  function phase(): string | null {
    const journal = `/proc/${machine.leader()}/root/cairn/journal`
    try {
      const name = readdirSync(journal).find(file => !file.startsWith('.') && file.endsWith('.phase'))
      return name ? (JSON.parse(readFileSync(`${journal}/${name}`, 'utf8')) as { phase: string }).phase : null
    } catch (error) {
      if (isErrno(error, 'ENOENT')) return null
      throw error
    }
  }

  /**
   * On a terminal of its own, which is gone as soon as `when` holds: its other end is killed, as when ssh loses its peer.
   * As after a login a shell stays above the command; when it ends, the kernel hangs up on all that it has in the foreground.
   */
  async function loseTerminalOf(command: readonly string[], when: () => boolean, env: Record<string, string> = {}) {
    const onTerminal = ['script', '--quiet', '--command', `${command.join(' ')}; true`, '/dev/null']
    const ended = machine.exec(['sh', '-c', 'echo $$ > /run/terminal.pid; exec "$@"', 'sh', ...onTerminal], { env })
    await until('the terminal can be taken away', async () => when())
    expect((await machine.exec(['sh', '-c', 'kill -KILL $(cat /run/terminal.pid)'])).code).toBe(0)
    await ended
  }

  it('is tested with a loss that ends an ordinary program', async () => {
    await machine.writeFile('/root/ordinary', '#!/bin/sh\necho $$ > /run/ordinary.pid\nexec sleep 1000\n', 0o755)
    const pidFile = `/proc/${machine.leader()}/root/run/ordinary.pid`
    const hasBegun = () => readFileSync(pidFile, { encoding: 'utf8', flag: 'a+' }) !== ''
    await loseTerminalOf(['/root/ordinary'], hasBegun)
    const pid = (await machine.readFile('/run/ordinary.pid')).trim()
    await until('it has ended', async () => (await machine.exec(['test', '-e', `/proc/${pid}`])).code !== 0)
  })

  it.each(['stop', 'act', 'settle'])('comes to its end when that happens in the phase %s', async wanted => {
    await loseTerminalOf(await story.applyCommand(nextChange()), () => phase() === wanted)
    await expectFinished()
  })

  it('comes to its end when systemctl does the work, which the terminal does not take along', async () => {
    const env = { DBUS_SYSTEM_BUS_ADDRESS: 'unix:path=/run/nowhere' }
    await loseTerminalOf(await story.applyCommand(nextChange()), () => phase() === 'act', env)
    await expectFinished()
  })

  it('comes to its end under SIGHUP at every phase', async () => {
    const renames = 'rename,renameat,renameat2'
    const strace = ['strace', '-f', '-o', '/root/trace', '-e', `trace=${renames}`, '-e', `inject=${renames}:signal=HUP`]
    const { code, stderr } = await machine.exec([...strace, '--', ...(await story.applyCommand(nextChange()))])
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.any(String) })
    const trace = (await machine.readFile('/root/trace')).split('\n')
    const phases = trace.filter(line => /rename.*\.phase"/.test(line))
    expect(phases.length).toBeGreaterThanOrEqual(8)
    expect(trace.filter(line => line.includes('--- SIGHUP')).length).toBeGreaterThanOrEqual(phases.length)
    await expectFinished()
  })

  it.each([
    { when: 'nobody reads what it says', script: '{ "$@"; echo $? > /run/code; } 2>&1 | true', code: 0 },
    { when: 'it has no input and no output at all', script: '"$@" <&- >&- 2>&-; echo $? > /run/code', code: 0 },
    { when: 'what it says cannot be kept', script: '"$@" > /dev/full; echo $? > /run/code', code: 1 },
  ])('comes to its end when $when', async ({ script, code }) => {
    await machine.exec(['sh', '-c', script, 'sh', ...(await story.applyCommand(nextChange()))])
    expect(await machine.readFile('/run/code')).toBe(`${code}\n`)
    await expectFinished()
  })

  it('is taken away whole when the terminal goes away in the middle of an uninstall', async () => {
    await loseTerminalOf(['/opt/cairn/bin/cairn', 'node', 'uninstall', '--yes'], () => phase() === 'stop')
    await until('the switch is over', story.isSettled)
    for (const unit of ['one', 'two']) expect(await story.show(unit, 'LoadState'), unit).toBe('not-found')
    for (const path of ['/etc/app', '/cairn/current', '/cairn/etc/static'])
      expect((await machine.exec(['ls', path])).code, path).not.toBe(0)
  })
})
