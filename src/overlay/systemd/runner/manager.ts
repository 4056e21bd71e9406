// The units of one root: what is loaded, what state each is in, and jobs on them. As under systemd, a unit that is up (or
// failed) goes by its files as they were at its start or at the last daemon-reload; any other by its files as they are.
import { unreachable } from '../../../lib/errors.ts'
import type { UnitName } from '../../names.ts'
import type { UnitTree } from '../../units/action.ts'
import { standardTargets } from '../offline.ts'
import { isLoadable, notFound, notLoadable } from '../status.ts'
import type { Job, JobResult, JobVerb, Systemd, UnitStatus } from '../systemd.ts'
import { type Definition, type Definitions, readDefinitions } from './definitions.ts'
import { inTime } from './patience.ts'
import { planJobs, type Step } from './plan-jobs.ts'
import type { Service } from './service.ts'
import { type ServiceHost, type ServiceUnit, serviceUnit } from './service-unit.ts'
import { seenUnitPath } from './unit-files.ts'

export type Manager = Pick<Systemd, 'show' | 'active' | 'daemonReload' | 'resetFailed' | 'run'>

export interface ManagerContext extends Omit<ServiceHost, 'service'> {
  readUnitFiles(): UnitTree
}

export function manageUnits(context: ManagerContext): Manager {
  const services = new Map<UnitName, ServiceUnit>()
  const targets = new Set(standardTargets)
  /** What the units that are not inactive go by. */
  const held = new Map<UnitName, Definition>()

  const stateOf = (unit: UnitName): Pick<UnitStatus, 'active' | 'sub'> =>
    targets.has(unit) ? { active: 'active', sub: 'active' } : (services.get(unit)?.state() ?? notFound(unit))
  const isUp = (unit: UnitName) => ['active', 'activating', 'reloading'].includes(stateOf(unit).active)
  const look = (tree = context.readUnitFiles()): Definitions => {
    for (const unit of held.keys()) if (stateOf(unit).active === 'inactive') held.delete(unit)
    return readDefinitions(tree, held)
  }

  return {
    show: async units => {
      const tree = context.readUnitFiles()
      const views = { definitions: look(tree), onDisk: readDefinitions(tree) }
      return new Map(units.map(unit => [unit, isLoadable(unit) ? statusOf(unit, views) : notFound(unit)]))
    },
    active: async () => [
      ...targets,
      ...[...services].filter(([, service]) => service.state().active !== 'inactive').map(([unit]) => unit),
    ],
    daemonReload: async () => {
      const onDisk = readDefinitions(context.readUnitFiles())
      for (const unit of held.keys()) held.set(unit, onDisk.of(unit))
    },
    resetFailed: async units => {
      const definitions = look()
      for (const unit of units.filter(isLoadable)) services.get(definitions.of(unit).id)?.resetFailed()
    },
    run: async jobs => {
      const definitions = look()
      const refusals = new Map(jobs.map(job => [job, refusalOf(job, definitions)]))
      const accepted = jobs.filter(job => refusals.get(job) === '')
      const done = carryOut(planJobs(accepted, { definitions, isUp }), definitions)
      return Promise.all(
        jobs.map(async (job): Promise<JobResult> => {
          const refused = refusals.get(job)
          const result = refused || (await inTime(done.get(definitions.of(job.unit).id)!, job.timeoutMs))
          const detail = result === 'late' ? 'timeout' : result
          return { do: job.do, unit: job.unit, ok: detail === '', detail }
        }),
      )
    },
  }

  function statusOf(
    unit: UnitName,
    { definitions, onDisk }: Record<'definitions' | 'onDisk', Definitions>,
  ): UnitStatus {
    const definition = definitions.of(unit)
    const { id, texts, hasBase, runs, refuseManualStart, refuseManualStop } = definition
    const paths = texts.map(({ path }) => seenUnitPath(path))
    const { startTimeoutMs, stopTimeoutMs } = runs.as === 'service' ? runs.service : notFound(unit)
    return {
      ...notFound(unit),
      ...services.get(id)?.state(),
      ...stateOf(id),
      id,
      load: runs.as === 'nothing' ? runs.load : 'loaded',
      fragmentPath: hasBase ? (paths[0] ?? '') : '',
      dropInPaths: hasBase ? paths.slice(1) : paths,
      needDaemonReload: !isSame(definition, onDisk.of(id)),
      refuseManualStart,
      refuseManualStop,
      startTimeoutMs,
      stopTimeoutMs,
      wantedBy: definitions.wantedBy(id).sort(),
    }
  }

  /** '' when it may be tried. */
  function refusalOf({ do: verb, unit }: Job, definitions: Definitions): string {
    if (!isLoadable(unit)) return notLoadable(unit)
    const { id, runs, refuseManualStart, refuseManualStop } = definitions.of(unit)
    const stops = verb === 'stop' || verb === 'restart'
    const starts = verb === 'start' || verb === 'restart'
    if (runs.as === 'nothing' && verb !== 'stop') return runs.why
    if (runs.as === 'nothing' && runs.load === 'not-found' && !held.has(id)) return `${unit} is not loaded`
    if (starts && refuseManualStart) return `refused: ${unit} is not to be started by hand`
    if (stops && refuseManualStop) return `refused: ${unit} is not to be stopped by hand`
    return ''
  }

  /** Each step begins when those that it waits for are over. */
  function carryOut(steps: readonly Step[], definitions: Definitions): Map<UnitName, Promise<string>> {
    const done = new Map<UnitName, Promise<string>>()
    const stepOf = new Map(steps.map(step => [step.unit, step]))
    const perform = (unit: UnitName): Promise<string> => {
      const result = done.get(unit) ?? performAfterOthers(stepOf.get(unit)!)
      done.set(unit, result)
      return result
    }
    const performAfterOthers = async ({ do: verb, unit, waitsFor, needs }: Step): Promise<string> => {
      const others = new Map(await Promise.all(waitsFor.map(async other => [other, await perform(other)] as const)))
      return needs.some(needed => others.get(needed) !== '') ? 'dependency' : act(verb, definitions.of(unit))
    }
    for (const { unit } of steps) perform(unit)
    return done
  }

  async function act(verb: JobVerb, definition: Definition): Promise<string> {
    const { id, runs } = definition
    if (verb !== 'stop' && runs.as === 'nothing') return runs.why
    if (!held.has(id)) held.set(id, definition)
    if (runs.as === 'target') return actOnTarget(verb, id)
    const service = services.get(id) ?? (runs.as === 'service' ? addService(id, runs.service) : null)
    switch (verb) {
      case 'start':
        return service!.start()
      case 'stop':
        return service?.stop() ?? ''
      case 'restart':
        await service!.stop()
        return service!.start()
      case 'reload':
        return service!.reload()
      default:
        return unreachable(verb)
    }
  }

  function actOnTarget(verb: JobVerb, unit: UnitName): string {
    if (verb === 'reload') return `reload is not applicable to ${unit}`
    if (verb === 'stop') targets.delete(unit)
    else targets.add(unit)
    return ''
  }

  /** One whose definition is gone goes on, and is stopped, by the last one that it had. */
  function addService(unit: UnitName, first: Service): ServiceUnit {
    let last = first
    const service = serviceUnit(unit, {
      ...context,
      service: () => {
        const runs = held.get(unit)?.runs
        if (runs?.as === 'service') last = runs.service
        return last
      },
    })
    services.set(unit, service)
    return service
  }
}

const isSame = ({ texts: one }: Definition, { texts: other }: Definition) =>
  one.length === other.length &&
  one.every(({ path, text }, index) => path === other[index]?.path && text === other[index].text)
