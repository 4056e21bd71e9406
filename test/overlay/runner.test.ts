// The runner with real processes. What it shares with every service manager is in suite.test.ts.
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { RefusedError } from '../../src/lib/errors.ts'
import { startTimeOf } from '../../src/lib/process-identity.ts'
import { connectRunner } from '../../src/overlay/systemd/runner/client.ts'
import {
  makeTestRoot,
  openTestMachine,
  removeTestRoot,
  type TestMachine,
  writeUnit,
} from '../../src/overlay/systemd/runner/machine.fake.ts'
import { openRunner } from '../../src/overlay/systemd/runner/runner.ts'

const runs = (pid: number) => startTimeOf(pid) !== null
/** A shell script of one line, without single quotes, as a command of a unit. */
const sh = (script: string) => `/bin/sh -c '${script.replaceAll('$', () => '$$')}'\n`
const shell = (script: string) => `[Service]\nExecStart=${sh(script)}`
const isWritten = (path: string) =>
  expect.poll(() => existsSync(path) && readFileSync(path, 'utf8').endsWith('\n'), { timeout: 10_000 }).toBe(true)

describe('a runner', () => {
  let machine: TestMachine
  beforeEach(async () => {
    machine = await openTestMachine()
  })
  afterEach(() => machine.remove())

  const pidsIn = (name: string) =>
    readFileSync(join(machine.root, 'etc', name), 'utf8')
      .trim()
      .split(/\s+/)
      .map(Number)
  const appears = (name: string) => isWritten(join(machine.root, 'etc', name))

  it('puts the paths of the machine below its root, in commands and variables', async () => {
    mkdirSync(join(machine.root, 'etc/web'), { recursive: true })
    writeFileSync(join(machine.root, 'etc/web/greeting'), 'hello\n')
    writeFileSync(join(machine.root, 'etc/web/env'), 'B=/cairn/states\n')
    machine.unit(
      'a.service',
      '[Service]\nType=oneshot\nEnvironment=A=/etc/web/greeting\nEnvironmentFile=/etc/web/env\nEnvironmentFile=-/etc/none\n' +
        'WorkingDirectory=/etc/web\nStateDirectory=a\nExecStart=/bin/cat /etc/web/greeting $A greeting\n' +
        `ExecStart=${sh('echo $B; echo $STATE_DIRECTORY')}`,
    )
    expect(await machine.run('start', 'a.service')).toBe('')
    const { root } = machine
    expect(await machine.lines('a.service')).toEqual([
      'hello',
      'hello',
      'hello',
      `${root}/cairn/states`,
      `${root}/var/lib/a`,
    ])
    expect(statSync(join(root, 'var/lib/a')).isDirectory()).toBe(true)
  })

  it('gives units its own Node first in their PATH, and nothing of its own environment', async () => {
    machine.unit('a.service', '[Service]\nType=oneshot\nExecStart=/usr/bin/env\n')
    await machine.run('start', 'a.service')
    const lines = await machine.lines('a.service')
    expect(lines.find(line => line.startsWith('PATH='))).toMatch(`PATH=${dirname(process.execPath)}:`)
    expect(lines.map(line => line.split('=')[0]).sort()).toEqual(['INVOCATION_ID', 'LANG', 'PATH'])
  })

  it('ends whole process groups, and what has left its group', async () => {
    machine.unit('a.service', shell('sleep 300 & setsid sleep 300 & echo $$ $! > /etc/pids; wait'))
    await machine.run('start', 'a.service')
    await appears('pids')
    const [shellPid = 0, left = 0] = pidsIn('pids')
    expect([runs(shellPid), runs(left)]).toEqual([true, true])
    expect(await machine.run('stop', 'a.service')).toBe('')
    expect([runs(shellPid), runs(left)]).toEqual([false, false])
    expect(await machine.show('a.service')).toMatchObject({ active: 'inactive', result: 'success' })
  })

  it('ends what a main process leaves behind when it ends by itself', async () => {
    machine.unit('a.service', shell('sleep 300 & echo $! > /etc/pids'))
    await machine.run('start', 'a.service')
    await expect.poll(async () => (await machine.show('a.service')).active).toBe('inactive')
    expect(pidsIn('pids').map(runs)).toEqual([false])
  })

  it('kills what does not end in its time', async () => {
    machine.unit(
      'a.service',
      `${shell('trap "" TERM; echo $$ > /etc/pids; while :; do sleep 1; done')}TimeoutStopSec=300ms\n`,
    )
    await machine.run('start', 'a.service')
    await appears('pids')
    await machine.run('stop', 'a.service')
    expect(pidsIn('pids').map(runs)).toEqual([false])
    expect(await machine.show('a.service')).toMatchObject({ active: 'failed', result: 'timeout' })
  })

  it('sends the signal that the unit asks for, after its ExecStop=', async () => {
    machine.unit(
      'a.service',
      `${shell('trap "echo interrupted; exit 0" INT; echo ready; while :; do sleep 0.05; done')}KillSignal=SIGINT\n` +
        `ExecStop=${sh('echo stopping $MAINPID')}`,
    )
    await machine.run('start', 'a.service')
    await expect.poll(() => machine.lines('a.service')).toContain('ready')
    const { mainPid } = await machine.show('a.service')
    await machine.run('stop', 'a.service')
    expect(await machine.lines('a.service')).toEqual(['ready', `stopping ${mainPid}`, 'interrupted'])
    expect(await machine.show('a.service')).toMatchObject({ active: 'inactive', result: 'success' })
  })

  it('lets a process know of a reload', async () => {
    machine.unit(
      'a.service',
      `${shell('trap "echo again" HUP; echo ready; while :; do sleep 0.05; done')}ExecReload=${sh('kill -HUP $MAINPID')}`,
    )
    await machine.run('start', 'a.service')
    await expect.poll(() => machine.lines('a.service')).toContain('ready')
    expect(await machine.run('reload', 'a.service')).toBe('')
    await expect.poll(() => machine.lines('a.service')).toContain('again')
  })

  it('starts a service again that fails, until that is too often', async () => {
    machine.unit('a.service', `${shell('echo try; exit 7')}Restart=on-failure\nRestartSec=10ms\n`)
    await machine.run('start', 'a.service')
    await expect.poll(async () => (await machine.show('a.service')).active, { timeout: 10_000 }).toBe('failed')
    expect(await machine.show('a.service')).toMatchObject({ result: 'start-limit-hit', mainStatus: 7, restarts: 4 })
    expect(await machine.lines('a.service')).toEqual(['try', 'try', 'try', 'try', 'try'])
    expect(await machine.run('start', 'a.service')).toBe('failed')
  })

  it('takes the exit codes that a unit calls success for that', async () => {
    machine.unit('a.service', '[Service]\nType=oneshot\nSuccessExitStatus=7\nExecStart=/bin/sh -c "exit 7"\n')
    machine.unit('b.service', '[Service]\nType=oneshot\nExecStart=-/bin/false\nExecStart=/bin/echo b\n')
    expect(await machine.run('start', 'a.service')).toBe('')
    expect(await machine.run('start', 'b.service')).toBe('')
    expect(await machine.lines('b.service')).toEqual(['b'])
  })

  it('says which program or file is missing', async () => {
    machine.unit('a.service', '[Service]\nType=exec\nExecStart=/no/such/program\n')
    machine.unit('b.service', '[Service]\nType=oneshot\nEnvironmentFile=/etc/none\nExecStart=/bin/true\n')
    expect(await machine.run('start', 'a.service')).toBe('failed')
    expect(await machine.show('a.service')).toMatchObject({ active: 'failed', mainStatus: 203 })
    expect(await machine.lines('a.service')).toEqual(['/no/such/program: spawn /no/such/program ENOENT'])
    expect(await machine.run('start', 'b.service')).toBe('failed')
    expect(await machine.lines('b.service')).toEqual(['/etc/none does not exist'])
  })

  it('refuses by name what it does not have', async () => {
    machine.unit('a.service', '[Service]\nType=notify\nExecStart=/bin/true\n')
    machine.unit('b.timer', '[Timer]\nOnBootSec=1\n')
    machine.unit('c.service', '[Service]\nExecStart=/bin/true\nProtectSystem=strict\n')
    expect(await machine.run('start', 'a.service')).toBe('the runner cannot honour Type=notify')
    expect(await machine.run('start', 'b.timer')).toBe('the runner cannot run a timer')
    expect(await machine.run('start', 'c.service')).toBe('the runner cannot honour ProtectSystem=')
    expect(await machine.show('c.service')).toMatchObject({ load: 'loaded', active: 'inactive' })
  })

  it('cancels a start that is under way when the unit is stopped', async () => {
    machine.unit('a.service', '[Service]\nType=oneshot\nExecStart=/bin/sleep 300\n')
    const started = machine.run('start', 'a.service')
    await expect.poll(async () => (await machine.show('a.service')).mainPid).toBeGreaterThan(0)
    expect(await machine.run('stop', 'a.service')).toBe('')
    expect(await started).toBe('canceled')
  })

  it('has a root to itself', async () => {
    await expect(openRunner({ root: machine.root })).rejects.toThrow(RefusedError)
    await expect(openRunner({ root: '/' })).rejects.toThrow('below a directory')
  })

  it('ends everything with itself', async () => {
    machine.unit('a.service', shell('sleep 300 & echo $$ $! > /etc/pids; wait'))
    machine.unit('b.service', `${shell('sleep 300 & echo $! > /etc/pid')}Type=oneshot\nRemainAfterExit=yes\n`)
    await machine.run('start', 'a.service')
    await machine.run('start', 'b.service')
    await appears('pids')
    const pids = [...pidsIn('pids'), ...pidsIn('pid')]
    expect(pids.map(runs)).toEqual([true, true, true])
    await machine.runner.end()
    expect(pids.map(runs)).toEqual([false, false, false])
    machine = await openTestMachine(machine.root)
    expect(machine.runner.leftovers).toEqual([])
  })
})

describe('a runner that was killed', () => {
  let root: string
  let host: ChildProcess | undefined
  beforeEach(() => {
    root = makeTestRoot()
  })
  afterEach(() => {
    host?.kill('SIGKILL')
    removeTestRoot(root)
  })

  const startHost = async (unit: string) => {
    host = spawn(
      process.execPath,
      [fileURLToPath(new URL('../../src/overlay/systemd/runner/host.fake.ts', import.meta.url)), root, unit],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    )
    await new Promise(up => host!.stdout!.once('data', up))
    const pids = join(root, 'etc/pids')
    await isWritten(pids)
    return readFileSync(pids, 'utf8').trim().split(' ').map(Number)
  }
  const ended = () => new Promise(done => host!.once('exit', done))

  it('leaves its units running, and the next one for the same root ends them and no others', async () => {
    writeUnit(root, 'a.service', shell('sleep 300 & setsid sleep 300 & echo $$ $! > /etc/pids; wait'))
    const pids = await startHost('a.service')
    const bystander = spawn('/bin/sleep', ['300'], { detached: true })
    host!.kill('SIGKILL')
    await ended()
    expect(pids.map(runs)).toEqual([true, true])
    expect(await connectRunner(root)).toBeNull()

    const machine = await openTestMachine(root)
    expect(machine.runner.leftovers).toEqual(['a.service'])
    expect(pids.map(runs)).toEqual([false, false])
    expect(runs(bystander.pid!)).toBe(true)
    bystander.kill()
    await machine.remove()
  })

  it('ends its units when its process exits without waiting for them', async () => {
    writeUnit(root, 'a.service', shell('sleep 300 & setsid sleep 300 & echo $$ $! > /etc/pids; wait'))
    const pids = await startHost('a.service')
    host!.kill('SIGTERM')
    await ended()
    await expect.poll(() => pids.map(runs)).toEqual([false, false])
  })
})
