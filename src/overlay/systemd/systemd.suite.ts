// What every service manager promises, tried out. Run over the fake in memory.test.ts and over real systemd, by bus and by
// systemctl, in test/systemd.test.ts, so that the fake cannot lie.
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { UnitName } from '../names.ts'
import type { Job, JobResult, JobVerb, Systemd, UnitStatus } from './systemd.ts'

/** A service manager and the machine it manages. Paths are those of the machine. */
export interface ManagedMachine {
  readonly systemd: Systemd
  /** Missing directories are made; `mtime` in seconds, else now. */
  write(path: string, text: string, mtime?: number): Promise<void>
  link(path: string, text: string): Promise<void>
  /** A file, a link or a whole directory; nothing there is fine. */
  remove(path: string): Promise<void>
  /** A client at a socket; stays connected until the returned function is called. */
  connect(path: string): Promise<() => void>
  pass(ms: number): Promise<void>
  /** Has a command given to runLater run that makes this file? */
  wasTouched(path: string): Promise<boolean>
}

export interface SuiteOptions {
  /** Title -> why it cannot be tried there. */
  readonly skip?: Readonly<Record<string, string>>
}

const directory = '/etc/systemd/system'
const forever = '[Service]\nExecStart=/bin/sleep infinity\n'
const patient = 30_000

export function systemdSuite(title: string, machine: () => ManagedMachine, { skip = {} }: SuiteOptions = {}) {
  const unused = new Set(Object.keys(skip))
  const promises = (promise: string, test: () => Promise<void>) => {
    unused.delete(promise)
    if (skip[promise]) it.skip(`${promise} (${skip[promise]})`, test)
    else it(promise, test)
  }

  describe(title, () => {
    let foreign = new Set<UnitName>()
    let written: string[] = []

    beforeAll(async () => {
      foreign = new Set(await machine().systemd.active())
    })

    afterEach(async () => {
      const { systemd, remove } = machine()
      const left = (await systemd.active()).filter(
        unit => !foreign.has(unit) && /\.(service|socket|timer|target)$/.test(unit),
      )
      await systemd.run(left.map(unit => ({ do: 'stop', unit, timeoutMs: patient })))
      await systemd.resetFailed(left)
      await Promise.all(written.map(remove))
      written = []
      await systemd.daemonReload()
    })

    promises('answers for a unit that does not exist', async () => {
      expect(await show('gone.service')).toMatchObject({
        unit: 'gone.service',
        id: 'gone.service',
        load: 'not-found',
        active: 'inactive',
        mainPid: 0,
        fragmentPath: '',
      })
      expect(await refusal('start', 'gone.service')).toMatch(/not found/)
      expect(await refusal('stop', 'gone.service')).toMatch(/not loaded/)
    })

    promises('starts a service and stops it again', async () => {
      await unit('a.service', forever)
      expect(await show('a.service')).toMatchObject({ load: 'loaded', active: 'inactive', sub: 'dead' })
      await done('start', 'a.service')
      const running = await show('a.service')
      expect(running).toMatchObject({ active: 'active', sub: 'running', fragmentPath: `${directory}/a.service` })
      expect(running.mainPid).toBeGreaterThan(1)
      expect(await machine().systemd.active()).toContain('a.service')
      await done('stop', 'a.service')
      expect(await show('a.service')).toMatchObject({ active: 'inactive', sub: 'dead', mainPid: 0, result: 'success' })
      expect(await machine().systemd.active()).not.toContain('a.service')
    })

    promises('leaves the process alone when a running service is started', async () => {
      await unit('a.service', forever)
      await done('start', 'a.service')
      const { mainPid } = await show('a.service')
      await done('start', 'a.service')
      expect((await show('a.service')).mainPid).toBe(mainPid)
    })

    promises('gives a restarted service a new process, and starts one that was not running', async () => {
      await unit('a.service', forever)
      await done('restart', 'a.service')
      const { mainPid } = await show('a.service')
      expect(mainPid).toBeGreaterThan(1)
      await done('restart', 'a.service')
      expect((await show('a.service')).mainPid).not.toBe(mainPid)
    })

    promises('reloads a service within its process', async () => {
      await unit('a.service', `${forever}ExecReload=/bin/true\n`)
      await done('start', 'a.service')
      const { mainPid } = await show('a.service')
      await done('reload', 'a.service')
      expect(await show('a.service')).toMatchObject({ active: 'active', mainPid })
    })

    promises('says that a reload failed, and the service runs on', async () => {
      await unit('a.service', `${forever}ExecReload=/bin/false\n`)
      await done('start', 'a.service')
      expect(await refusal('reload', 'a.service')).toBe('failed')
      expect(await states('a.service')).toEqual(['active'])
    })

    promises('refuses to reload what cannot reload, or does not run', async () => {
      await unit('a.service', forever)
      await unit('b.service', `${forever}ExecReload=/bin/true\n`)
      await done('start', 'a.service')
      expect(await refusal('reload', 'a.service')).toMatch(/not applicable/)
      expect(await refusal('reload', 'b.service')).toBe('invalid')
    })

    promises('tells of an edited file until the daemon is reloaded, and keeps the process', async () => {
      await unit('a.service', forever)
      await done('start', 'a.service')
      const { mainPid } = await show('a.service')
      await machine().pass(50)
      await unit('a.service', `[Unit]\nRefuseManualStart=yes\n${forever}`)
      expect(await show('a.service')).toMatchObject({ needDaemonReload: true, refuseManualStart: false, mainPid })
      await machine().systemd.daemonReload()
      expect(await show('a.service')).toMatchObject({ needDaemonReload: false, refuseManualStart: true, mainPid })
    })

    promises('tells of a drop-in that came, changed or went', async () => {
      const needs = async () => (await show('a.service')).needDaemonReload
      await unit('a.service', forever)
      // A whole new directory of drop-ins is one thing that systemd may not notice.
      await unit('a.service.d/30-c.conf', '[Unit]\nDescription=c\n')
      await done('start', 'a.service')
      expect(await needs()).toBe(false)
      await unit('a.service.d/20-b.conf', '[Unit]\nDescription=b\n')
      expect(await needs()).toBe(true)
      await unit('a.service.d/10-a.conf', '[Unit]\nDescription=a\n')
      await machine().systemd.daemonReload()
      const { needDaemonReload, dropInPaths } = await show('a.service')
      expect(needDaemonReload).toBe(false)
      expect(dropInPaths).toEqual(['10-a', '20-b', '30-c'].map(name => `${directory}/a.service.d/${name}.conf`))
      await machine().pass(50)
      await unit('a.service.d/10-a.conf', '[Unit]\nDescription=other\n')
      expect(await needs()).toBe(true)
      await machine().systemd.daemonReload()
      await machine().remove(`${directory}/a.service.d/20-b.conf`)
      expect(await needs()).toBe(true)
    })

    promises(
      'finds a unit behind a link, and cannot see that another file of the same age took its place',
      async () => {
        await file('/cairn-suite/one/a.service', forever, 1)
        await file('/cairn-suite/two/a.service', `[Unit]\nRefuseManualStop=yes\n${forever}`, 1)
        await link('/cairn-suite/static', 'one')
        await link(`${directory}/a.service`, '../../../cairn-suite/static/a.service')
        await machine().systemd.daemonReload()
        await done('start', 'a.service')
        expect(await show('a.service')).toMatchObject({ id: 'a.service', fragmentPath: `${directory}/a.service` })
        await machine().remove('/cairn-suite/static')
        await link('/cairn-suite/static', 'two')
        expect(await show('a.service')).toMatchObject({ needDaemonReload: false, refuseManualStop: false })
        await machine().systemd.daemonReload()
        expect(await show('a.service')).toMatchObject({ refuseManualStop: true })
        await link('/cairn-suite/static', 'one')
        await machine().systemd.daemonReload()
      },
    )

    promises('runs on when its file is gone, and can still be stopped', async () => {
      await unit('a.service', forever)
      await done('start', 'a.service')
      const { mainPid } = await show('a.service')
      await machine().remove(`${directory}/a.service`)
      await machine().systemd.daemonReload()
      expect(await show('a.service')).toMatchObject({ load: 'not-found', active: 'active', mainPid, fragmentPath: '' })
      await done('stop', 'a.service')
      expect((await show('a.service')).active).toBe('inactive')
    })

    promises('says that a oneshot failed, and forgets it when told to', async () => {
      await unit('a.service', '[Service]\nType=oneshot\nExecStart=/bin/false\n')
      expect(await refusal('start', 'a.service')).toBe('failed')
      expect(await show('a.service')).toMatchObject({ active: 'failed', result: 'exit-code', mainStatus: 1 })
      expect(await machine().systemd.active()).toContain('a.service')
      await machine().systemd.resetFailed(names('a.service', 'gone.service'))
      expect(await show('a.service')).toMatchObject({ active: 'inactive', result: 'success' })
    })

    promises('starts a simple service that dies at once, and shows it failed afterwards', async () => {
      await unit('a.service', '[Service]\nExecStart=/bin/false\n')
      await done('start', 'a.service')
      await expect.poll(async () => (await show('a.service')).active).toBe('failed')
      expect(await show('a.service')).toMatchObject({ result: 'exit-code', mainStatus: 1, mainPid: 0 })
    })

    promises('says that a service failed that was to tell when it is ready, and died', async () => {
      await unit('a.service', '[Service]\nType=notify\nExecStart=/bin/false\n')
      await unit('b.service', '[Service]\nType=forking\nExecStart=/bin/false\n')
      expect(await run(['start', 'a.service'], ['start', 'b.service'])).toEqual(['failed', 'failed'])
      expect(await states('a.service', 'b.service')).toEqual(['failed', 'failed'])
    })

    promises('shows a service that is about to be restarted as such', async () => {
      await unit('a.service', '[Service]\nExecStart=/bin/false\nRestart=on-failure\nRestartSec=60\n')
      await done('start', 'a.service')
      await expect.poll(async () => (await show('a.service')).sub).toBe('auto-restart')
      expect(await show('a.service')).toMatchObject({ active: 'activating', mainStatus: 1 })
      await done('stop', 'a.service')
      expect((await show('a.service')).active).toBe('inactive')
    })

    promises('keeps a oneshot that remains', async () => {
      await unit('a.service', '[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/bin/true\n')
      await unit('b.service', '[Service]\nType=oneshot\nExecStart=/bin/true\n')
      expect(await run(['start', 'a.service'], ['start', 'b.service'])).toEqual(['', ''])
      expect(await show('a.service')).toMatchObject({ active: 'active', sub: 'exited', mainPid: 0 })
      expect(await show('b.service')).toMatchObject({ active: 'inactive', sub: 'dead', result: 'success' })
    })

    promises('does the rest of a batch when one fails, and answers in the order asked', async () => {
      await unit('a.service', '[Unit]\nAfter=c.service\n[Service]\nType=oneshot\nExecStart=/bin/false\n')
      await unit('b.service', forever)
      await unit('c.service', forever)
      const results = await run(
        ['start', 'a.service'],
        ['start', 'b.service'],
        ['start', 'gone.service'],
        ['start', 'c.service'],
      )
      expect(results).toEqual(['failed', '', expect.stringMatching(/not found/), ''])
      expect(await states('a.service', 'b.service', 'c.service')).toEqual(['failed', 'active', 'active'])
      expect(await run(['stop', 'b.service'], ['restart', 'c.service'])).toEqual(['', ''])
      expect(await states('b.service', 'c.service')).toEqual(['inactive', 'active'])
    })

    promises('does not start what needs a unit that failed', async () => {
      await unit('a.service', '[Service]\nType=oneshot\nExecStart=/bin/false\n')
      await unit('b.service', `[Unit]\nRequires=a.service\nAfter=a.service\n${forever}`)
      expect(await refusal('start', 'b.service')).toBe('dependency')
      expect(await states('a.service', 'b.service')).toEqual(['failed', 'inactive'])
    })

    promises('stops what cannot be without a stopped unit', async () => {
      await unit('a.service', forever)
      await unit('b.service', `[Unit]\nRequires=a.service\nAfter=a.service\n${forever}`)
      await done('start', 'b.service')
      expect(await states('a.service', 'b.service')).toEqual(['active', 'active'])
      await done('stop', 'a.service')
      expect(await states('a.service', 'b.service')).toEqual(['inactive', 'inactive'])
    })

    promises('waits for a unit that takes its time', async () => {
      await unit('a.service', '[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/bin/sleep 2\n')
      await done('start', 'a.service')
      expect((await show('a.service')).sub).toBe('exited')
    })

    promises('gives up waiting after the time of the job, and the unit goes on', async () => {
      await unit('a.service', '[Service]\nType=oneshot\nExecStart=/bin/sleep 60\n')
      await unit('b.service', forever)
      expect(await runIn(1000, ['start', 'a.service'], ['start', 'b.service'])).toEqual(['timeout', ''])
      expect(await states('a.service', 'b.service')).toEqual(['activating', 'active'])
      await done('stop', 'a.service')
    })

    promises('says that a unit failed which overran its own timeout', async () => {
      await unit('a.service', '[Service]\nType=oneshot\nTimeoutStartSec=1\nExecStart=/bin/sleep 60\n')
      expect(await show('a.service')).toMatchObject({ startTimeoutMs: 1000, stopTimeoutMs: 90_000 })
      expect(await refusal('start', 'a.service')).toBe('failed')
      expect(await show('a.service')).toMatchObject({ active: 'failed', result: 'timeout' })
    })

    promises('says how long units may take', async () => {
      await unit('a.service', forever)
      await unit('b.service', '[Service]\nType=oneshot\nExecStart=/bin/true\nTimeoutStopSec=2min\n')
      await unit('c.target', '[Unit]\nDescription=c\n')
      expect(await show('a.service')).toMatchObject({ startTimeoutMs: 90_000, stopTimeoutMs: 90_000 })
      expect(await show('b.service')).toMatchObject({ startTimeoutMs: null, stopTimeoutMs: 120_000 })
      expect(await show('c.target')).toMatchObject({ startTimeoutMs: null, stopTimeoutMs: null })
    })

    promises('does not start a masked unit', async () => {
      await link(`${directory}/a.service`, '/dev/null')
      expect(await show('a.service')).toMatchObject({ load: 'masked', active: 'inactive' })
      expect(await refusal('start', 'a.service')).toMatch(/masked/)
    })

    promises('does not start a unit with a broken definition', async () => {
      await unit('a.service', '[Service]\nExecReload=/bin/true\n')
      expect(await show('a.service')).toMatchObject({ load: 'bad-setting' })
      expect(await refusal('start', 'a.service')).toMatch(/bad unit file setting/)
    })

    promises('obeys a unit that is not to be started or stopped by hand', async () => {
      await unit('a.service', `[Unit]\nRefuseManualStart=yes\n${forever}`)
      await unit('b.service', `[Unit]\nRefuseManualStop=yes\nWants=a.service\n${forever}`)
      expect(await refusal('start', 'a.service')).toMatch(/refused/)
      await done('start', 'b.service')
      await expect.poll(() => states('a.service', 'b.service')).toEqual(['active', 'active'])
      expect(await refusal('stop', 'b.service')).toMatch(/refused/)
      expect(await show('a.service')).toMatchObject({ refuseManualStart: true, refuseManualStop: false })
      expect(await show('b.service')).toMatchObject({ refuseManualStart: false, refuseManualStop: true })
      await unit('b.service', forever)
      await machine().systemd.daemonReload()
    })

    promises('counts a start as done when a condition keeps the unit down', async () => {
      await unit('a.service', `[Unit]\nConditionPathExists=/cairn-suite/gone\n${forever}`)
      await done('start', 'a.service')
      expect((await show('a.service')).active).toBe('inactive')
    })

    promises('knows a unit by its alias, as one unit', async () => {
      await unit('a.service', `${forever}[Install]\nAlias=b.service\n`)
      await link(`${directory}/b.service`, 'a.service')
      await machine().systemd.daemonReload()
      await done('start', 'b.service')
      const [a, b] = [await show('a.service'), await show('b.service')]
      expect(b).toMatchObject({ unit: 'b.service', id: 'a.service', mainPid: a.mainPid })
      expect((await machine().systemd.active()).filter(name => /^[ab]\.service$/.test(name))).toEqual(['a.service'])
      expect(await run(['restart', 'b.service'], ['start', 'a.service'])).toEqual(['', ''])
      await unit('a.service', '[Service]\nType=oneshot\nExecStart=/bin/false\n')
      await machine().systemd.daemonReload()
      await done('stop', 'b.service')
      expect(await refusal('start', 'b.service')).toBe('failed')
    })

    promises('takes names with backslashes and leading dashes literally', async () => {
      const odd = ['a\\x2db.service', '-x.service', '--now.service', 'a:b_c.d.service']
      for (const name of odd) await unit(name, `${forever}ExecReload=/bin/true\n`)
      await unit('a\\x2db.service.d/x.conf', '[Unit]\nWants=-x.service\n')
      for (const verb of ['start', 'restart', 'reload'] as const)
        expect(await run(...odd.map(name => [verb, name] as const))).toEqual(['', '', '', ''])
      expect(await states(...odd)).toEqual(['active', 'active', 'active', 'active'])
      expect(await show('a\\x2db.service')).toMatchObject({
        id: 'a\\x2db.service',
        dropInPaths: [`${directory}/a\\x2db.service.d/x.conf`],
      })
      expect((await show('-x.service')).wantedBy).toEqual(['a\\x2db.service'])
      expect((await machine().systemd.active()).filter(name => odd.includes(name)).sort()).toEqual(odd.toSorted())
      expect(await run(...odd.map(name => ['stop', name] as const))).toEqual(['', '', '', ''])
    })

    promises('never takes a name for a pattern', async () => {
      await unit('ax.service', forever)
      await unit('ay.service', '[Service]\nType=oneshot\nExecStart=/bin/false\n')
      expect(await run(['start', 'ax.service'], ['start', 'ay.service'])).toEqual(['', 'failed'])
      for (const pattern of ['a*.service', 'a?.service', 'a[x].service', '*']) {
        expect(await show(pattern)).toMatchObject({ unit: pattern, load: 'not-found', active: 'inactive' })
        expect(await refusal('stop', pattern)).not.toBe('')
        await machine().systemd.resetFailed(names(pattern))
      }
      expect(await states('ax.service', 'ay.service')).toEqual(['active', 'failed'])
    })

    promises('lists the instances of a template, and takes the template for none', async () => {
      await unit('t@.service', forever)
      expect(await run(['start', 't@1.service'], ['start', 't@two.service'])).toEqual(['', ''])
      const instances = (await machine().systemd.active()).filter(name => name.startsWith('t@'))
      expect(instances.sort()).toEqual(['t@1.service', 't@two.service'])
      expect(await show('t@1.service')).toMatchObject({ id: 't@1.service', fragmentPath: `${directory}/t@.service` })
      expect(await show('t@.service')).toMatchObject({ load: 'not-found', active: 'inactive' })
      expect(await refusal('start', 't@.service')).not.toBe('')
    })

    promises('starts what a target wants, also what it has come to want since', async () => {
      await unit('a.service', forever)
      await unit('b.service', forever)
      await unit('c.target', '[Unit]\nDescription=c\n')
      await link(`${directory}/c.target.wants/a.service`, '../a.service')
      await machine().systemd.daemonReload()
      await done('start', 'c.target')
      await expect.poll(() => states('c.target', 'a.service')).toEqual(['active', 'active'])
      expect((await show('a.service')).wantedBy).toEqual(['c.target'])
      await link(`${directory}/c.target.requires/b.service`, '../b.service')
      await machine().systemd.daemonReload()
      expect((await show('b.service')).wantedBy).toEqual(['c.target'])
      expect((await show('b.service')).active).toBe('inactive')
      await done('start', 'c.target')
      await expect.poll(() => states('b.service')).toEqual(['active'])
    })

    promises(
      'starts a service when somebody connects to its socket, and keeps the socket while that restarts',
      async () => {
        await unit('a.socket', '[Socket]\nListenStream=/run/cairn-suite.sock\nFlushPending=yes\n')
        await unit('a.service', forever)
        await done('start', 'a.socket')
        expect(await show('a.socket')).toMatchObject({ active: 'active', sub: 'listening', startTimeoutMs: 90_000 })
        expect(await show('a.service')).toMatchObject({ active: 'inactive', triggeredBy: ['a.socket'] })
        const disconnect = await machine().connect('/run/cairn-suite.sock')
        await expect.poll(() => states('a.service')).toEqual(['active'])
        expect((await show('a.socket')).sub).toBe('running')
        const { mainPid } = await show('a.service')
        await done('restart', 'a.service')
        expect((await show('a.service')).mainPid).not.toBe(mainPid)
        expect((await show('a.socket')).active).toBe('active')
        disconnect()
        await done('stop', 'a.service')
        await expect.poll(async () => (await show('a.socket')).sub).toBe('listening')
      },
    )

    promises('does not open a socket beside its running service', async () => {
      await unit('a.socket', '[Socket]\nListenStream=/run/cairn-suite.sock\n')
      await unit('a.service', forever)
      await done('start', 'a.service')
      expect(await refusal('start', 'a.socket')).toBe('failed')
      expect(await states('a.socket', 'a.service')).toEqual(['inactive', 'active'])
    })

    promises('has an instance for each connection to an accepting socket', async () => {
      const instances = async () => (await machine().systemd.active()).filter(name => name.startsWith('a@'))
      await unit('a.socket', '[Socket]\nListenStream=/run/cairn-suite.sock\nAccept=yes\n')
      await unit('a@.service', `${forever}StandardInput=socket\n`)
      await done('start', 'a.socket')
      const connections = [
        await machine().connect('/run/cairn-suite.sock'),
        await machine().connect('/run/cairn-suite.sock'),
      ]
      await expect.poll(async () => (await instances()).length).toBe(2)
      const [one = ''] = await instances()
      await done('stop', one)
      expect(await instances()).toHaveLength(1)
      expect(await states('a.socket')).toEqual(['active'])
      for (const disconnect of connections) disconnect()
    })

    promises('starts a timer without the service that it is for', async () => {
      await unit('a.timer', '[Timer]\nOnActiveSec=1h\n')
      await unit('a.service', '[Service]\nType=oneshot\nExecStart=/bin/true\n')
      await done('start', 'a.timer')
      expect(await show('a.timer')).toMatchObject({
        active: 'active',
        sub: 'waiting',
        mainPid: 0,
        startTimeoutMs: null,
      })
      expect(await show('a.service')).toMatchObject({ active: 'inactive', triggeredBy: ['a.timer'] })
    })

    promises('runs a command later, once, unless it is cancelled', async () => {
      const { systemd, pass, wasTouched } = machine()
      const touch = (name: string) => ['/usr/bin/touch', `/run/cairn-suite-${name}`]
      await systemd.runLater({ unit: 'cairn-suite-a', afterMs: 3_600_000, command: touch('a') })
      await systemd.runLater({ unit: 'cairn-suite-b', afterMs: 300, command: touch('b') })
      await systemd.runLater({ unit: 'cairn-suite-c', afterMs: 300, command: touch('c') })
      await systemd.cancelLater('cairn-suite-c')
      await pass(1500)
      await expect.poll(() => wasTouched('/run/cairn-suite-b')).toBe(true)
      expect(await wasTouched('/run/cairn-suite-a')).toBe(false)
      expect(await wasTouched('/run/cairn-suite-c')).toBe(false)
      await systemd.cancelLater('cairn-suite-a')
      await systemd.cancelLater('cairn-suite-b')
      await systemd.cancelLater('cairn-suite-never')
    })

    promises('replaces a command that is to run later, also one that has run', async () => {
      const { systemd, pass, wasTouched } = machine()
      const later = (name: string) => ({ unit: 'cairn-suite', command: ['/usr/bin/touch', `/run/cairn-suite-${name}`] })
      await systemd.runLater({ ...later('d'), afterMs: 3_600_000 })
      await systemd.runLater({ ...later('e'), afterMs: 300 })
      await pass(1500)
      await expect.poll(() => wasTouched('/run/cairn-suite-e')).toBe(true)
      await systemd.runLater({ unit: 'cairn-suite', command: ['/bin/false'], afterMs: 300 })
      await pass(1500)
      await systemd.runLater({ ...later('f'), afterMs: 300 })
      await pass(1500)
      await expect.poll(() => wasTouched('/run/cairn-suite-f')).toBe(true)
      expect(await wasTouched('/run/cairn-suite-d')).toBe(false)
      await systemd.cancelLater('cairn-suite')
    })

    promises('hands over the last lines that a unit wrote', async () => {
      await unit(
        'a.service',
        '[Service]\nType=oneshot\nExecStart=/bin/sh -c "echo one; echo two; echo three >&2; exit 1"\n',
      )
      expect(await machine().systemd.lastLines('gone.service' as UnitName, 2)).toEqual([])
      expect(await refusal('start', 'a.service')).toBe('failed')
      expect(await machine().systemd.lastLines('a.service' as UnitName, 2)).toEqual(['two', 'three'])
    })

    it('has a reason only for what it skips', () => {
      expect([...unused]).toEqual([])
    })

    async function file(path: string, text: string, mtime?: number) {
      written.push(path)
      await machine().write(path, text, mtime)
    }

    const unit = (path: string, text: string) => file(`${directory}/${path}`, text)

    async function link(path: string, text: string) {
      written.push(path)
      await machine().link(path, text)
    }

    async function show(name: string): Promise<UnitStatus> {
      return (await machine().systemd.show(names(name))).get(name as UnitName)!
    }

    async function states(...units: string[]): Promise<string[]> {
      const shown = await machine().systemd.show(names(...units))
      return units.map(name => shown.get(name as UnitName)!.active)
    }

    async function runIn(timeoutMs: number, ...jobs: (readonly [JobVerb, string])[]): Promise<string[]> {
      const asked: Job[] = jobs.map(([verb, name]) => ({ do: verb, unit: name as UnitName, timeoutMs }))
      const results: JobResult[] = await machine().systemd.run(asked)
      expect(results.map(({ do: verb, unit }) => [verb, unit])).toEqual(jobs)
      expect(results.filter(({ ok, detail }) => ok !== (detail === ''))).toEqual([])
      return results.map(({ detail }) => detail)
    }

    const run = (...jobs: (readonly [JobVerb, string])[]) => runIn(patient, ...jobs)

    async function done(verb: JobVerb, name: string) {
      expect(await run([verb, name])).toEqual([''])
    }

    async function refusal(verb: JobVerb, name: string): Promise<string> {
      const [detail = ''] = await run([verb, name])
      return detail
    }
  })
}

const names = (...units: string[]) => units as UnitName[]
