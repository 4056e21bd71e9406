// Real systemd, by bus and by systemctl, on one booted machine: the suite that the fake passes too, and what only a real
// machine can show.
import { once } from 'node:events'
import { createConnection } from 'node:net'
import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { UnitName } from '../src/overlay/names.ts'
import { openDbus } from '../src/overlay/systemd/dbus.ts'
import { openSystemctl } from '../src/overlay/systemd/systemctl.ts'
import { type ManagedMachine, systemdSuite } from '../src/overlay/systemd/systemd.suite.ts'
import type { Job, JobVerb, Systemd } from '../src/overlay/systemd/systemd.ts'
import { bootMachine, type Machine } from './machine/machine.ts'
import { describeWith, machineComponents } from './require.ts'

const project = dirname(dirname(fileURLToPath(import.meta.url)))

describeWith(machineComponents, 'systemd', () => {
  let machine: Machine
  let bus: Systemd
  let command: Systemd

  beforeAll(async () => {
    machine = await bootMachine({ name: 'systemd', cairn: false, binds: [{ from: project, to: '/opt/project' }] })
    bus = await openBus(machine)
    command = await openSystemctl({ through: through(machine) })
  })

  afterAll(async () => {
    bus?.close()
    command?.close()
    await machine?.destroy()
  })

  systemdSuite('by bus', () => managed(machine, bus))
  systemdSuite('by systemctl', () => managed(machine, command))

  describe.each([
    { way: 'by bus', systemd: () => bus },
    { way: 'by systemctl', systemd: () => command },
  ])('$way', ({ systemd }) => {
    it('starts and stops a batch in the order that the units ask for, however it is given', async () => {
      const units = ['1', '2', '3', '4', '5', '6'].map(number => `order${number}.service`)
      for (const [index, unit] of units.entries()) {
        const say = (what: string) => `/bin/sh -c "sleep 0.05; echo ${what} ${unit} >> /run/order"`
        const text = `[Unit]\nAfter=${units.slice(0, index).join(' ')}\n[Service]\nType=oneshot\nRemainAfterExit=yes\n`
        await machine.writeFile(
          `/etc/systemd/system/${unit}`,
          `${text}ExecStart=${say('start')}\nExecStop=${say('stop')}\n`,
        )
      }
      await systemd().daemonReload()
      const mixed = [5, 0, 3, 1, 4, 2].map(index => units[index]!)
      expect(await run(systemd(), 'start', mixed)).toEqual(mixed.map(() => ''))
      expect(await run(systemd(), 'stop', mixed)).toEqual(mixed.map(() => ''))
      const said = (await machine.readFile('/run/order')).trim().split('\n')
      expect(said).toEqual([...units.map(unit => `start ${unit}`), ...units.toReversed().map(unit => `stop ${unit}`)])
      await machine.exec(['rm', '/run/order'])
    })

    it('answers for a thousand units at once', async () => {
      await machine.writeFile('/etc/systemd/system/many@.service', '[Service]\nExecStart=/bin/true\n')
      const units = Array.from({ length: 1000 }, (_, index) => `many@${index}.service` as UnitName)
      const shown = await systemd().show(units)
      expect([...shown.keys()]).toEqual(units)
      expect([...shown.values()].filter(({ unit, id, load }) => unit !== id || load !== 'loaded')).toEqual([])
    })
  })

  it('believes nobody but systemd about the end of a job', async () => {
    await machine.writeFile('/etc/systemd/system/slow.service', '[Service]\nType=oneshot\nExecStart=/bin/sleep 3\n')
    const started = run(bus, 'start', ['slow.service'])
    await expect.poll(async () => (await machine.exec(['systemctl', 'list-jobs'])).stdout).toContain('slow.service')
    const { stdout } = await machine.exec(['systemctl', 'list-jobs', '--no-legend'])
    const job = /(\d+) slow\.service/.exec(stdout)![1]
    const body = `uint32:${job} objpath:/org/freedesktop/systemd1/job/${job} string:slow.service string:failed`
    const signal = `/org/freedesktop/systemd1 org.freedesktop.systemd1.Manager.JobRemoved ${body}`
    const lie = `for n in $(seq 0 99); do dbus-send --system --type=signal --dest=:1.$n ${signal}; done`
    expect(await machine.exec(['setpriv', '--reuid=65534', '--clear-groups', 'sh', '-c', lie])).toMatchObject({
      code: 0,
    })
    expect(await started).toEqual([''])
  })

  it('follows jobs on the same connection after systemd has executed itself again', async () => {
    await machine.writeFile('/etc/systemd/system/quick.service', '[Service]\nType=oneshot\nExecStart=/bin/true\n')
    expect(await machine.exec(['systemctl', 'daemon-reexec'])).toMatchObject({ code: 0 })
    expect(await run(bus, 'start', ['quick.service'])).toEqual([''])
  })

  describe('choosing', () => {
    // In the machine, with its own Node, from the sources.
    const choose = `
      import { openSystemd } from '/opt/project/src/overlay/systemd/choose.ts'
      try {
        const systemd = await openSystemd({ root: '', noSystemd: false })
        const [status] = (await systemd.show(['dbus.socket'])).values()
        console.log(systemd.kind, status.load, status.active)
        systemd.close()
      } catch (error) {
        console.log(error.code, error.hint)
      }`
    const node = ['/opt/node/bin/node', '--input-type=module', '--eval', choose]
    const without = (command: string) => ['unshare', '--mount', 'sh', '-c', `${command} && exec "$@"`, 'sh', ...node]

    it('takes the bus where there is one', async () => {
      expect((await machine.exec(node)).stdout).toBe('dbus loaded active\n')
    })

    it('takes systemctl where there is no bus', async () => {
      const noBus = without('mount -t tmpfs none /run/dbus')
      expect((await machine.exec(noBus)).stdout).toBe('systemctl loaded active\n')
    })

    it('takes systemctl where the bus does not answer', async () => {
      const deaf = 'unix:path=/run/nowhere'
      expect((await machine.exec(node, { env: { DBUS_SYSTEM_BUS_ADDRESS: deaf } })).stdout).toBe(
        'systemctl loaded active\n',
      )
    })

    it('says that there is none where there is none, and what to do', async () => {
      const { stdout } = await machine.exec(without('mount -t tmpfs none /run'))
      expect(stdout).toMatch(/^systemd\.unavailable .*--no-systemd/)
    })
  })

  it('does not wait for ever when the bus goes away', async () => {
    const doomed = await bootMachine({ name: 'doomed', cairn: false })
    try {
      await doomed.writeFile('/etc/systemd/system/slow.service', '[Service]\nType=oneshot\nExecStart=/bin/sleep 60\n')
      const started = (await openBus(doomed)).run([job('start', 'slow.service')])
      await expect.poll(async () => (await doomed.exec(['systemctl', 'list-jobs'])).stdout).toContain('slow.service')
      await Promise.all([expect(started).rejects.toMatchObject({ code: 'systemd.unavailable' }), doomed.powerCut()])
    } finally {
      await doomed.destroy()
    }
  })
})

const through = (machine: Machine) => ['/usr/bin/nsenter', '-t', String(machine.leader()), '-a']

function openBus(machine: Machine): Promise<Systemd> {
  const address = `unix:path=/proc/${machine.leader()}/root/run/dbus/system_bus_socket`
  return openDbus({ address, through: through(machine) })
}

async function run(systemd: Systemd, verb: JobVerb, units: readonly string[]): Promise<string[]> {
  const results = await systemd.run(units.map(unit => job(verb, unit)))
  return results.map(({ detail }) => detail)
}

const job = (verb: JobVerb, unit: string): Job => ({ do: verb, unit: unit as UnitName, timeoutMs: 30_000 })

function managed(machine: Machine, systemd: Systemd): ManagedMachine {
  const succeed = async (...command: string[]) => expect(await machine.exec(command)).toMatchObject({ code: 0 })
  return {
    systemd,
    async write(path, text, mtime) {
      await machine.writeFile(path, text)
      if (mtime !== undefined) await succeed('touch', `--date=@${mtime}`, '--', path)
    },
    link: (path, text) => succeed('sh', '-c', 'mkdir -p "$(dirname "$1")" && ln -sfnT -- "$2" "$1"', 'sh', path, text),
    remove: path => succeed('rm', '-rf', '--', path),
    async connect(path) {
      const client = createConnection(`/proc/${machine.leader()}/root${path}`)
      await once(client, 'connect')
      return () => client.destroy()
    },
    pass: ms => delay(ms),
    wasTouched: async path => (await machine.exec(['test', '-e', path])).code === 0,
  }
}
