// systemd over the system bus: one connection, no process per question, and each job's own result.
import { setTimeout as delay } from 'node:timers/promises'
import { CairnError } from '../../lib/errors.ts'
import type { UnitName } from '../names.ts'
import { type Answer, type Bus, connectBus } from './bus.ts'
import { readPredecessors, readStatus } from './dbus-status.ts'
import { readLastLines } from './journal.ts'
import { inOrder } from './order.ts'
import type { Job, JobResult, JobVerb, Systemd } from './systemd.ts'

const name = 'org.freedesktop.systemd1'
const path = '/org/freedesktop/systemd1'
const busDriver = {
  destination: 'org.freedesktop.DBus',
  path: '/org/freedesktop/DBus',
  interface: 'org.freedesktop.DBus',
}
const manager = { destination: name, path, interface: `${name}.Manager` }

const methods: Record<JobVerb, string> = {
  start: 'StartUnit',
  stop: 'StopUnit',
  restart: 'RestartUnit',
  reload: 'ReloadUnit',
}

/** Reading thousands of unit files and running generators takes its time. */
const reloadMs = 180_000

export interface DbusOptions {
  readonly address: string
  /** As in systemctl.ts; here for the journal, which is not on the bus. */
  readonly through?: readonly string[]
}

export async function openDbus({ address, through = [] }: DbusOptions): Promise<Systemd> {
  const bus = await connectBus(address)
  try {
    const rule = `type='signal',sender='${name}',path='${path}',interface='${name}.Manager',member='JobRemoved'`
    granted(await bus.call({ ...busDriver, member: 'AddMatch', signature: 's', body: [rule] }))
    granted(await bus.call({ ...manager, member: 'Subscribe' }))
    return overBus(bus, through)
  } catch (error) {
    bus.close()
    throw error
  }
}

function overBus(bus: Bus, through: readonly string[]): Systemd {
  return {
    kind: 'dbus',
    show: async units =>
      new Map(await Promise.all(units.map(async unit => [unit, await readStatus(bus, unit)] as const))),
    active: async () => {
      const { body } = granted(await bus.call({ ...manager, member: 'ListUnits' }))
      const units = body[0] as [name: UnitName, description: string, load: string, active: string][]
      return units.filter(([, , , active]) => active !== 'inactive').map(([unit]) => unit)
    },
    daemonReload: async () => {
      granted(await bus.call({ ...manager, member: 'Reload', timeoutMs: reloadMs }))
    },
    // Refused for a unit that is not in memory, which has nothing to reset.
    resetFailed: async units => {
      await Promise.all(units.map(unit => aboutUnit(bus, 'ResetFailedUnit', unit)))
    },
    run: jobs => runJobs(bus, jobs),
    runLater,
    cancelLater,
    lastLines: (unit, count) => readLastLines(unit, count, through),
    close: () => bus.close(),
  }

  async function runLater({ unit, afterMs, command }: Parameters<Systemd['runLater']>[0]) {
    const { Variant } = await import('@jellybrick/dbus-next')
    await cancelLater(unit)
    await aboutUnit(bus, 'ResetFailedUnit', `${unit}.service`)
    const [program = ''] = command
    const timer = [
      ['OnActiveSec', new Variant('t', BigInt(afterMs) * 1000n)],
      ['AccuracyUSec', new Variant('t', 100_000n)],
      ['RemainAfterElapse', new Variant('b', false)],
    ]
    const service = [
      ['ExecStart', new Variant('a(sasb)', [[program, command, false]])],
      ['CollectMode', new Variant('s', 'inactive-or-failed')],
    ]
    const body = [`${unit}.timer`, 'fail', timer, [[`${unit}.service`, service]]]
    await untilForgotten(() =>
      bus.call({ ...manager, member: 'StartTransientUnit', signature: 'ssa(sv)a(sa(sv))', body }),
    )
  }

  /** Only the timer: a command that runs already is left to its end. */
  async function cancelLater(unit: string) {
    await runJobs(bus, [{ do: 'stop', unit: `${unit}.timer` as UnitName, timeoutMs: 10_000 }])
  }
}

async function runJobs(bus: Bus, jobs: readonly Job[]): Promise<JobResult[]> {
  const after = new Map(
    jobs.length < 2
      ? []
      : await Promise.all(jobs.map(async ({ unit }) => [unit, await readPredecessors(bus, unit)] as const)),
  )
  // Asked anew each time: systemd gets another when it executes itself again.
  const owner = granted(await bus.call({ ...busDriver, member: 'GetNameOwner', signature: 's', body: [name] }))
  const watch = watchJobs(bus, owner.body[0] as string)
  try {
    const results = new Map(inOrder(jobs, after).map(job => [job, runJob(job)]))
    return await Promise.all(jobs.map(job => results.get(job)!))
  } finally {
    watch.end()
  }

  async function runJob({ do: verb, unit, timeoutMs }: Job): Promise<JobResult> {
    const answer = await bus.call({ ...manager, member: methods[verb], signature: 'ss', body: [unit, 'replace'] })
    if (answer.refused) return { do: verb, unit, ok: false, detail: answer.reason }
    const result = await watch.result(answer.body[0] as string, timeoutMs)
    return { do: verb, unit, ok: result === 'done', detail: result === 'done' ? '' : result }
  }
}

/**
 * A job may be over before the answer to its request is looked at, so every result is kept while the batch runs.
 * Anyone on the bus may send us a signal; only those of systemd's own address count.
 */
function watchJobs(bus: Bus, systemd: string) {
  const results = new Map<string, PromiseWithResolvers<string>>()
  const resultOf = (job: string) => {
    const known = results.get(job) ?? Promise.withResolvers<string>()
    results.set(job, known)
    return known
  }
  const end = bus.listen(({ sender, member, body }) => {
    if (sender !== systemd || member !== 'JobRemoved') return
    const [, job, , result] = body as [id: number, job: string, unit: string, result: string]
    resultOf(job).resolve(result)
  })
  return {
    end,
    async result(job: string, timeoutMs: number): Promise<string> {
      const stop = new AbortController()
      const late = delay(timeoutMs, 'timeout', { signal: stop.signal })
      late.catch(() => {})
      try {
        return await Promise.race([resultOf(job).promise, late, bus.lost])
      } finally {
        stop.abort()
      }
    },
  }
}

/** A transient unit that was stopped keeps its name until systemd has tidied up, which it does when it is idle. */
async function untilForgotten(call: () => Promise<Answer>) {
  for (let tries = 1; ; tries++) {
    const answer = await call()
    if (!answer.refused) return
    if (tries === 50 || !/already (loaded|exists)/.test(answer.reason)) granted(answer)
    await delay(20)
  }
}

function granted(answer: Answer): Exclude<Answer, { refused: true }> {
  if (!answer.refused) return answer
  throw new CairnError('systemd.refused', `systemd refuses: ${answer.reason}`)
}

const aboutUnit = (bus: Bus, member: string, unit: string) =>
  bus.call({ ...manager, member, signature: 's', body: [unit] })
