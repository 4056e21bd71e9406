// systemd by its own command, for machines without a message bus. Names stand after `--` and were checked, so that none is
// taken for an option or a pattern. systemctl waits for a whole batch and names those that failed on standard error.
import { setTimeout as delay } from 'node:timers/promises'
import { CairnError } from '../../lib/errors.ts'
import { findProgram, type RunResult, run } from '../../lib/run.ts'
import type { UnitName } from '../names.ts'
import { readLastLines } from './journal.ts'
import { inOrder } from './order.ts'
import { isLoadable, notFound, notLoadable } from './status.ts'
import {
  type Block,
  failuresIn,
  parseShow,
  parseUnitList,
  statusFrom,
  statusProperties,
  unquoted,
} from './systemctl-output.ts'
import type { Job, JobResult, JobVerb, Systemd } from './systemd.ts'

export interface SystemctlOptions {
  /** A command that runs its arguments on the machine that is meant, when that is not this one: `nsenter -t 1234 -a`. */
  readonly through?: readonly string[]
}

/** Reading thousands of unit files and running generators takes its time. */
const longestMs = 180_000
/** Names of 255 bytes each then stay below what a command line may hold. */
const unitsAtOnce = 1000
/** Exit status of timeout(1) when it had to end the program. */
const timedOut = 124

export async function openSystemctl({ through = [] }: SystemctlOptions = {}): Promise<Systemd> {
  await read('show', '--property=Version')
  return {
    kind: 'systemctl',
    show: async units => {
      const blocks = await show(units, statusProperties)
      return new Map(units.map(unit => [unit, blocks.has(unit) ? statusFrom(unit, blocks.get(unit)!) : notFound(unit)]))
    },
    active: async () =>
      parseUnitList(await read('list-units', '--all', '--full', '--plain', '--no-legend', '--no-pager'))
        .filter(({ active }) => active !== 'inactive')
        .map(({ unit }) => unit),
    daemonReload: async () => {
      await read('daemon-reload')
    },
    // Complains about units that are not in memory, which have nothing to reset.
    resetFailed: async units => {
      await inParts(units.filter(isLoadable), part => call('systemctl', ['reset-failed', '--', ...part]))
    },
    run: runJobs,
    runLater,
    cancelLater,
    lastLines: (unit, count) => readLastLines(unit, count, through),
    close() {},
  }

  async function runJobs(jobs: readonly Job[]): Promise<JobResult[]> {
    const units = jobs.map(({ unit }) => unit)
    const blocks = await show(units, ['Id', 'After'])
    const after = new Map([...blocks].map(([unit, block]) => [unit, unquoted(block.After)]))
    const loadable = inOrder(jobs, after).filter(({ unit }) => blocks.has(unit))
    const parts = [...Map.groupBy(loadable, job => job.do)]
    const failures = new Map(
      await Promise.all(parts.map(async ([verb, part]) => [verb, await failuresOf(verb, part)] as const)),
    )
    return jobs.map(({ do: verb, unit }) => {
      const failed = failures.get(verb)
      // systemctl speaks of a unit by its Id, also when it was given an alias.
      const detail =
        failed && blocks.has(unit) ? (failed.get(unit) ?? failed.get(idIn(blocks.get(unit))) ?? '') : notLoadable(unit)
      return { do: verb, unit, ok: detail === '', detail }
    })
  }

  /** All of them end together, so each may take as long as the one that may take longest. */
  async function failuresOf(verb: JobVerb, jobs: readonly Job[]): Promise<Map<UnitName, string>> {
    const seconds = Math.max(1, ...jobs.map(({ timeoutMs }) => timeoutMs)) / 1000
    const units = jobs.map(({ unit }) => unit)
    const { code, stderr } = await call('timeout', [String(seconds), program('systemctl'), verb, '--', ...units], null)
    const failures = failuresIn(stderr)
    if (code === timedOut)
      for (const [unit, block] of await show(units, ['Id', 'Job', 'ActiveState']))
        if (block.Job) failures.set(unit, 'timeout')
        else if (block.ActiveState === 'failed' && !failures.has(idIn(block))) failures.set(unit, 'failed')
    const others = units.filter(unit => !failures.has(unit))
    for (const unit of await unnamedFailures(stderr, verb, others)) failures.set(unit, 'failed')
    if (code !== 0 && failures.size === 0) throw refused(stderr)
    return failures
  }

  /** Of a failed job for anything but a service, systemctl says only that there was one; the state tells which. */
  async function unnamedFailures(stderr: string, verb: JobVerb, units: readonly UnitName[]): Promise<UnitName[]> {
    const count = stderr.match(/^Job failed\./gm)?.length ?? 0
    const candidates = count === 0 ? [] : units.filter(unit => !unit.endsWith('.service'))
    if (candidates.length <= count) return candidates
    const wanted = verb === 'stop' ? 'inactive' : 'active'
    const states = await show(candidates, ['ActiveState'])
    return candidates.filter(unit => states.get(unit)?.ActiveState !== wanted)
  }

  async function runLater({ unit, afterMs, command }: Parameters<Systemd['runLater']>[0]) {
    await cancelLater(unit)
    await call('systemctl', ['reset-failed', '--', `${unit}.service`])
    const when = [`--unit=${unit}`, `--on-active=${afterMs}ms`, '--timer-property=AccuracySec=100ms']
    for (let tries = 1; ; tries++) {
      const { code, stderr } = await call('systemd-run', ['--quiet', '--collect', ...when, '--', ...command])
      if (code === 0) return
      // A transient unit that was stopped keeps its name until systemd has tidied up, which it does when it is idle.
      if (tries === 50 || !/already (loaded|exists)/.test(stderr)) throw refused(stderr)
      await delay(20)
    }
  }

  /** Only the timer: a command that runs already is left to its end. */
  async function cancelLater(unit: string) {
    await call('systemctl', ['stop', '--', `${unit}.timer`])
  }

  /** Without those that cannot be loaded. */
  async function show(units: readonly UnitName[], properties: readonly string[]) {
    const blocks = await inParts(units.filter(isLoadable), async part => {
      const found = parseShow(await read('show', '--no-pager', `--property=${properties.join(',')}`, '--', ...part))
      return part.map((unit, index) => [unit, found[index] ?? {}] as const)
    })
    return new Map(blocks.flat())
  }

  async function read(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await call('systemctl', args)
    if (code !== 0) throw refused(stderr)
    return stdout
  }

  async function call(name: string, args: readonly string[], timeoutMs: number | null = longestMs): Promise<RunResult> {
    const [first = '', ...rest] = [...through, program(name), ...args]
    const result = await run(first, rest, timeoutMs === null ? {} : { timeoutMs })
    if (result.code === null) throw new CairnError('systemd.unavailable', `${name} was ended by ${result.signal}`)
    return result
  }
}

const idIn = (block: Block | undefined) => (block?.Id ?? '') as UnitName

async function inParts<T>(units: readonly UnitName[], work: (part: readonly UnitName[]) => Promise<T>): Promise<T[]> {
  const done: T[] = []
  for (let at = 0; at < units.length; at += unitsAtOnce) done.push(await work(units.slice(at, at + unitsAtOnce)))
  return done
}

function program(name: string): string {
  const path = findProgram(name)
  if (!path) throw new CairnError('systemd.unavailable', `this machine has no ${name}`)
  return path
}

const refused = (stderr: string) => new CairnError('systemd.refused', `systemd refuses: ${stderr.trim()}`)
