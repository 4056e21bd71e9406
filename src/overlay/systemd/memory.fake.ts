// A service manager for tests, without processes: it reads the unit files below a root, and everything it is told happens
// at once. Time passes only in advance(). It keeps the same suite as the real ones (memory.test.ts). Making it is booting:
// what the standard targets want is started.
//
// A command ends badly when its program is called `false` (or ...false), well when it is `true`, after its time when it is
// `sleep N`; any other runs for ever as a service, and ends at once in a oneshot.
import { byName, type UnitName } from '../names.ts'
import { instantiate, typeOf } from '../units/unit-name.ts'
import {
  type Definition,
  differs,
  existsBelow,
  fails,
  programOf,
  readDefinitions,
  sleepMs,
  timeoutOf,
  triggered,
  whyUnusable,
} from './definition.fake.ts'
import { standardTargets } from './offline.ts'
import { inOrder } from './order.ts'
import { isLoadable, notFound, notLoadable } from './status.ts'
import type { Job, JobVerb, Systemd, UnitStatus } from './systemd.ts'

export interface MemorySystemd extends Systemd {
  /** What it was told, in order: `stop a.service`, `daemon-reload`; and commands that ran later: `ran touch x`. */
  readonly calls: string[]
  /** Null when it does not run. The commands are ExecStart of the definition that it was started with. */
  running(unit: string): { readonly pid: number; readonly commands: readonly string[]; readonly reloads: number } | null
  /** A client comes to an active socket that listens at this path. */
  connect(path: string): void
  advance(ms: number): void
}

/** A unit that is in memory because it is something else than inactive. */
interface Live {
  /** As the files were when it was started, or at the last daemon-reload. */
  definition: Definition
  readonly active: UnitStatus['active']
  readonly sub: string
  readonly pid: number
  readonly status: number
  readonly result: string
  readonly commands: readonly string[]
  reloads: number
}

export function memorySystemd(root: string): MemorySystemd {
  const live = new Map<UnitName, Live>()
  const later = new Map<string, { readonly at: number; readonly command: readonly string[] }>()
  const calls: string[] = []
  const starting = new Set<UnitName>()
  let define = readDefinitions(root)
  let lastPid = 1000
  let connections = 0
  let now = 0

  const verbs: Record<JobVerb, (unit: UnitName, timeoutMs: number) => string> = {
    start: (unit, timeoutMs) => refusesBy(unit, 'RefuseManualStart') || start(unit, timeoutMs),
    stop: unit => refusesBy(unit, 'RefuseManualStop') || stop(unit),
    restart: (unit, timeoutMs) =>
      refusesBy(unit, 'RefuseManualStart') || refusesBy(unit, 'RefuseManualStop') || restart(unit, timeoutMs),
    reload,
  }

  for (const target of standardTargets) start(target)

  return {
    kind: 'memory',
    calls,
    show: async units => {
      define = readDefinitions(root)
      return new Map(units.map(unit => [unit, isLoadable(unit) ? statusOf(unit) : notFound(unit)]))
    },
    active: async () => [...live.keys()].sort(byName),
    daemonReload: async () => {
      calls.push('daemon-reload')
      define = readDefinitions(root)
      for (const [name, unit] of live) unit.definition = define(name)
    },
    resetFailed: async units => {
      for (const unit of units) {
        calls.push(`reset-failed ${unit}`)
        const { name } = define(unit)
        if (live.get(name)?.active === 'failed') live.delete(name)
      }
    },
    run: async jobs => {
      define = readDefinitions(root)
      const after = new Map(jobs.map(({ unit }) => [unit, isLoadable(unit) ? definitionOf(unit).after : []]))
      const details = new Map(inOrder(jobs, after).map(job => [job, runJob(job)]))
      return jobs.map(job => ({ do: job.do, unit: job.unit, ok: details.get(job) === '', detail: details.get(job)! }))
    },
    runLater: async ({ unit, afterMs, command }) => {
      calls.push(`run-later ${unit}`)
      later.set(unit, { at: now + afterMs, command })
    },
    cancelLater: async unit => {
      calls.push(`cancel-later ${unit}`)
      later.delete(unit)
    },
    lastLines: async () => [],
    close() {},

    running: name => {
      const unit = live.get(name as UnitName)
      return unit?.pid ? { pid: unit.pid, commands: unit.commands, reloads: unit.reloads } : null
    },
    connect: path => {
      define = readDefinitions(root)
      const sockets = [...live.values()].map(({ definition }) => definition)
      const socket = sockets.find(({ values }) => values('Socket', 'ListenStream').includes(path))
      if (!socket) throw new Error(`nobody listens at ${path}`)
      const service = triggered(socket)!
      const accepts = socket.flag('Socket', 'Accept')
      start(accepts ? instantiate(service, `${connections++}-1-0`) : service)
    },
    advance: ms => {
      now += ms
      for (const [unit, { at, command }] of later)
        if (at <= now) {
          later.delete(unit)
          calls.push(`ran ${command.join(' ')}`)
        }
    },
  }

  function runJob({ do: verb, unit, timeoutMs }: Job): string {
    calls.push(`${verb} ${unit}`)
    return isLoadable(unit) ? verbs[verb](unit, timeoutMs) : notLoadable(unit)
  }

  function definitionOf(asked: UnitName): Definition {
    const found = define(asked)
    return live.get(found.name)?.definition ?? found
  }

  function refusesBy(asked: UnitName, key: 'RefuseManualStart' | 'RefuseManualStop'): string {
    const { name, flag } = definitionOf(asked)
    if (!flag('Unit', key)) return ''
    return `Operation refused, unit ${name} may be requested by dependency only (it is configured to refuse manual start/stop).`
  }

  function start(asked: UnitName, timeoutMs = Number.POSITIVE_INFINITY): string {
    const definition = definitionOf(asked)
    const { name, requires, wants, after } = definition
    const unusable = whyUnusable(definition)
    if (unusable) return unusable
    if (starting.has(name)) return ''
    starting.add(name)
    try {
      const failed = requires.filter(unit => start(unit) !== '')
      for (const unit of wants) start(unit)
      if (failed.some(unit => after.includes(unit))) return 'dependency'
      if (isUp(name) || !conditionsHold(definition)) return ''
      return startByType(definition, timeoutMs)
    } finally {
      starting.delete(name)
    }
  }

  function startByType(definition: Definition, timeoutMs: number): string {
    const service = triggered(definition)
    switch (typeOf(definition.name)) {
      case 'service':
        return definition.value('Service', 'Type') === 'oneshot'
          ? startOneshot(definition, timeoutMs)
          : startService(definition)
      case 'socket':
        if (isUp(service!) || (isLoadable(service!) && define(service!).load === 'not-found')) return 'failed'
        return become(definition, { active: 'active', sub: 'listening' })
      case 'timer':
      case 'path':
        return become(definition, { active: 'active', sub: 'waiting' })
      case 'mount':
        return become(definition, { active: 'active', sub: 'mounted' })
      default:
        return become(definition, { active: 'active', sub: 'active' })
    }
  }

  function startOneshot(definition: Definition, timeoutMs: number): string {
    const commands = definition.values('Service', 'ExecStart')
    const takesMs = commands.reduce((sum, command) => sum + sleepMs(command), 0)
    const ownMs = timeoutOf(definition, 'TimeoutStartSec') ?? Number.POSITIVE_INFINITY
    if (takesMs > timeoutMs && timeoutMs < ownMs) {
      become(definition, { active: 'activating', sub: 'start', pid: ++lastPid })
      return 'timeout'
    }
    if (takesMs > ownMs) return fail(definition, 'timeout', 0)
    if (commands.some(fails)) return fail(definition, 'exit-code', 1)
    if (definition.flag('Service', 'RemainAfterExit')) become(definition, { active: 'active', sub: 'exited' })
    else live.delete(definition.name)
    return ''
  }

  function startService(definition: Definition): string {
    const [command = ''] = definition.values('Service', 'ExecStart')
    const type = definition.value('Service', 'Type') ?? 'simple'
    const restart = definition.value('Service', 'Restart') ?? 'no'
    if (!fails(command) && programOf(command) !== 'true')
      return become(definition, { active: 'active', sub: 'running', pid: ++lastPid })
    const [status, result] = fails(command) ? [1, 'exit-code'] : [0, 'success']
    if (restart === 'always' || restart === (status ? 'on-failure' : 'on-success'))
      become(definition, { active: 'activating', sub: 'auto-restart', status, result })
    else if (status) fail(definition, result, status)
    else live.delete(definition.name)
    // These count as started when they are forked; the others have something to say first, and did not.
    return ['simple', 'exec', 'idle'].includes(type) ? '' : 'failed'
  }

  function stop(asked: UnitName): string {
    const { name, load } = definitionOf(asked)
    const unit = live.get(name)
    if (!unit) return load === 'loaded' || load === 'masked' ? '' : `Unit ${name} not loaded.`
    if (unit.active !== 'failed') live.delete(name)
    for (const [other, { definition }] of live)
      if ([...definition.requires, ...definition.partOf].includes(name)) stop(other)
    return ''
  }

  function restart(asked: UnitName, timeoutMs: number): string {
    const definition = definitionOf(asked)
    const unusable = whyUnusable(definition)
    if (unusable) return unusable
    const before = [...live.keys()]
    stop(definition.name)
    const stopped = before.filter(unit => !live.has(unit))
    const detail = start(definition.name, timeoutMs)
    for (const unit of stopped) start(unit)
    return detail
  }

  function reload(asked: UnitName): string {
    const definition = definitionOf(asked)
    const { name, value } = definition
    const unusable = whyUnusable(definition)
    if (unusable) return unusable
    const command = value('Service', 'ExecReload')
    if (command === undefined && typeOf(name) !== 'mount' && value('Service', 'Type') !== 'notify-reload')
      return `Job type reload is not applicable for unit ${name}.`
    const unit = live.get(name)
    if (unit?.active !== 'active') return 'invalid'
    unit.reloads += 1
    return command !== undefined && fails(command) ? 'failed' : ''
  }

  function become(definition: Definition, state: Pick<Live, 'active' | 'sub'> & Partial<Live>): '' {
    const commands = definition.values('Service', 'ExecStart')
    live.set(definition.name, { pid: 0, status: 0, result: 'success', reloads: 0, ...state, definition, commands })
    return ''
  }

  function fail(definition: Definition, result: string, status: number): string {
    become(definition, { active: 'failed', sub: 'failed', result, status })
    return 'failed'
  }

  function isUp(unit: UnitName): boolean {
    const { active, sub } = live.get(unit) ?? {}
    return active === 'active' || (active === 'activating' && sub !== 'auto-restart')
  }

  function conditionsHold({ values }: Definition): boolean {
    return values('Unit', 'ConditionPathExists').every(path =>
      path.startsWith('!') ? !existsBelow(root, path.slice(1)) : existsBelow(root, path),
    )
  }

  function statusOf(asked: UnitName): UnitStatus {
    const found = define(asked)
    const { name } = found
    const unit = live.get(name)
    const definition = unit?.definition ?? found
    const others = [...live.values()].map(other => other.definition)
    const serviceRuns = typeOf(name) === 'socket' && unit !== undefined && isUp(triggered(definition)!)
    return {
      unit: asked,
      id: name,
      load: definition.load,
      active: unit?.active ?? 'inactive',
      sub: serviceRuns ? 'running' : (unit?.sub ?? 'dead'),
      fragmentPath: definition.fragmentPath,
      dropInPaths: definition.files.map(({ path }) => path).filter(path => path !== definition.fragmentPath),
      needDaemonReload: unit !== undefined && differs(definition, found),
      mainPid: unit?.pid ?? 0,
      mainStatus: unit?.status ?? 0,
      result: unit?.result ?? 'success',
      restarts: 0,
      refuseManualStart: definition.flag('Unit', 'RefuseManualStart'),
      refuseManualStop: definition.flag('Unit', 'RefuseManualStop'),
      startTimeoutMs: timeoutOf(definition, 'TimeoutStartSec'),
      stopTimeoutMs: timeoutOf(definition, 'TimeoutStopSec'),
      wantedBy: others
        .filter(({ wants, requires }) => [...wants, ...requires].includes(name))
        .map(nameOf)
        .sort(byName),
      triggeredBy: others
        .filter(other => triggered(other) === name)
        .map(nameOf)
        .sort(byName),
    }
  }
}

const nameOf = ({ name }: Definition) => name
