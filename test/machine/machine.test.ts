// The harness itself: what other tests take for granted about their machines.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeWith, machineComponents } from '../require.ts'
import { bootMachine, type Machine } from './machine.ts'

describeWith(machineComponents, 'a test machine', () => {
  let machine: Machine

  beforeAll(async () => {
    machine = await bootMachine({ name: 'atlas', cairn: false })
  })

  afterAll(() => machine?.destroy())

  const output = async (...command: string[]) => (await machine.exec(command)).stdout.trim()

  it('runs a healthy systemd under its own name, and has Node', async () => {
    expect(await output('systemctl', 'is-system-running')).toBe('running')
    expect(await output('hostname')).toBe('atlas')
    expect(await output('/opt/node/bin/node', '--version')).toBe(process.version)
  })

  it('hands over output, exit code and input', async () => {
    const script = 'cat; echo oops >&2; exit 3'
    const finished = await machine.exec(['sh', '-c', script], { input: 'in' })
    expect(finished).toEqual({ code: 3, stdout: 'in', stderr: 'oops\n' })
  })

  it('keeps its disk over a reboot, and its /etc as it was', async () => {
    await machine.writeFile('/etc/cairn-test/secret', 'x\n', 0o600)
    const [etc, boot] = [machine.snapshotEtc(), await output('cat', '/proc/sys/kernel/random/boot_id')]
    expect(etc['cairn-test/secret']).toMatch(/^file 600 0:0 /)
    await machine.reboot()
    expect(machine.snapshotEtc()).toEqual(etc)
    expect(await output('cat', '/proc/sys/kernel/random/boot_id')).not.toBe(boot)
  })

  it('loses in a power cut what was not on disk', async () => {
    await machine.writeFile('/run/cairn-test', 'x')
    await machine.powerCut()
    await expect(async () => machine.leader()).rejects.toThrow(/off/)
    await machine.writeFile('/var/cairn-test', 'written while off')
    await machine.start()
    expect(await machine.readFile('/var/cairn-test')).toBe('written while off')
    expect((await machine.exec(['test', '-e', '/run/cairn-test'])).code).toBe(1)
  })

  it('can be turned off and on', async () => {
    await machine.powerOff()
    await machine.start()
    expect(await output('systemctl', 'is-system-running')).toBe('running')
  })

  it('reaches a server of the test on loopback', async () => {
    const server = createServer((_, response) => response.end('hello')).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const fetching = `console.log(await (await fetch('http://127.0.0.1:${port}/')).text())`
    expect(await output('/opt/node/bin/node', '--input-type=module', '--eval', fetching)).toBe('hello')
    server.close()
  })

  it('shares no unit with another one, and leaves nothing behind', async () => {
    const other = await bootMachine({ name: 'borea', cairn: false })
    await other.writeFile('/etc/systemd/system/only.service', '[Service]\nExecStart=/bin/sleep infinity\n')
    expect(await other.exec(['systemctl', 'start', 'only.service'])).toMatchObject({ code: 0 })
    expect((await machine.exec(['systemctl', 'is-active', 'only.service'])).stdout.trim()).toBe('inactive')
    expect(leftOf(`borea-${process.pid}`)).not.toEqual([])
    await other.destroy()
    expect(leftOf(`borea-${process.pid}`)).toEqual([])
  })

  it('is removed by the next one when its test was killed', async () => {
    const script = `
      import { bootMachine } from '${import.meta.dirname}/machine.ts'
      await bootMachine({ name: 'cleo', cairn: false })
      process.kill(process.pid, 'SIGKILL')`
    const killed = spawn(process.execPath, ['--input-type=module', '--eval', script], { stdio: 'inherit' })
    await once(killed, 'close')
    expect(leftOf(`cleo-${killed.pid}`)).not.toEqual([])
    await (await bootMachine({ name: 'delos', cairn: false })).destroy()
    expect(leftOf(`cleo-${killed.pid}`)).toEqual([])
  })
})

/** Mounts, directories and control groups of the machines of this name and process. */
function leftOf(machine: string): string[] {
  const mounts = readFileSync('/proc/self/mounts', 'utf8').split('\n')
  const groups = mounts.map(line => line.split(' ')).filter(([, , type]) => type?.startsWith('cgroup'))
  return [
    ...mounts,
    ...readdirSync(join(tmpdir(), 'cairn-machines')),
    ...readdirSync('/run/systemd/nspawn/propagate'),
    ...groups.flatMap(([, path = '']) => readdirSync(path)),
  ].filter(found => found.includes(`${machine}-`))
}
