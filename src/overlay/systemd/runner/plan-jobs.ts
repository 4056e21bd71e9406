// Turns a batch of jobs into steps: with the units that they pull in or take along, and with what each waits for.
// Holds: the waits have no cycle. Touches nothing.
import type { UnitName } from '../../names.ts'
import type { Job, JobVerb } from '../systemd.ts'
import type { Definitions } from './definitions.ts'

export interface Step {
  readonly do: JobVerb
  /** By its own name, not an alias. */
  readonly unit: UnitName
  /** Steps of these units are finished first. */
  readonly waitsFor: readonly UnitName[]
  /** Of these, the ones without which it is not begun. */
  readonly needs: readonly UnitName[]
}

export interface JobsView {
  readonly definitions: Definitions
  isUp(unit: UnitName): boolean
}

export function planJobs(jobs: readonly Pick<Job, 'do' | 'unit'>[], view: JobsView): Step[] {
  const { of } = view.definitions
  const verbs = new Map(jobs.map(job => [of(job.unit).id, job.do]))
  for (const [unit, verb] of [...verbs]) include(verbs, verb, unit, view)
  const waits = withoutCycles(waitsOf(verbs, view.definitions))
  return [...verbs].map(([unit, verb]) => {
    const waitsFor = [...(waits.get(unit) ?? [])]
    const required = verb === 'stop' ? [] : of(unit).requires.map(name => of(name).id)
    return { do: verb, unit, waitsFor, needs: required.filter(needed => waitsFor.includes(needed)) }
  })
}

/** A start brings up what the unit wants; a stop or a restart takes along what cannot be without it. */
function include(verbs: Map<UnitName, JobVerb>, verb: JobVerb, unit: UnitName, view: JobsView) {
  const { definitions, isUp } = view
  const add = (also: JobVerb, other: UnitName) => {
    if (verbs.has(other)) return
    verbs.set(other, also)
    include(verbs, also, other, view)
  }
  const { wants, requires } = definitions.of(unit)
  if (verb === 'start' || verb === 'restart') {
    const pulled = [...wants.filter(name => definitions.of(name).hasBase), ...requires]
    for (const { id } of pulled.map(definitions.of)) if (!isUp(id)) add('start', id)
  }
  if (verb === 'stop' || verb === 'restart')
    for (const dependent of definitions.requiredBy(unit)) if (isUp(dependent)) add(verb, dependent)
}

/** What comes up later goes down earlier; what goes down is down before something ordered against it comes up. */
function waitsOf(verbs: ReadonlyMap<UnitName, JobVerb>, definitions: Definitions): Map<UnitName, Set<UnitName>> {
  const waits = new Map([...verbs.keys()].map(unit => [unit, new Set<UnitName>()]))
  for (const [unit, verb] of verbs)
    for (const name of definitions.of(unit).after) {
      const earlier = definitions.of(name).id
      if (!verbs.has(earlier) || earlier === unit) continue
      if (verb === 'stop') waits.get(earlier)!.add(unit)
      else waits.get(unit)!.add(earlier)
    }
  return waits
}

/** Leaves out each wait that would close a cycle, in the order in which the units came. */
function withoutCycles(waits: ReadonlyMap<UnitName, ReadonlySet<UnitName>>): Map<UnitName, Set<UnitName>> {
  const kept = new Map([...waits.keys()].map(unit => [unit, new Set<UnitName>()]))
  const leadsTo = (from: UnitName, to: UnitName): boolean =>
    from === to || [...(kept.get(from) ?? [])].some(next => leadsTo(next, to))
  for (const [unit, earlier] of waits)
    for (const other of earlier) if (!leadsTo(other, unit)) kept.get(unit)!.add(other)
  return kept
}
