// Carries a journaled switch through its phases: forward, or back. Recovery calls the same code, so every phase may run twice.
//
// Holds: each phase is on disk before its work. The rename of static is the point of no return: an error before it undoes,
// an error or a failed unit after it plans the way back and goes there. The journal is closed only when /etc, static and
// current agree.
import { dirname } from 'node:path'
import { removeIfThere, syncDirectory } from '../lib/durable.ts'
import { messageOf } from '../lib/errors.ts'
import { runChecks } from './checks.ts'
import type { NodeContext } from './context.ts'
import { applyEtc } from './etc/apply.ts'
import { undoEtc } from './etc/undo.ts'
import { readConfigOf, removeGeneration, setCurrent, writeReport } from './generations.ts'
import { arm, disarm } from './hold.ts'
import {
  closeJournal,
  type Journal,
  type Phase,
  phases,
  readProgress,
  type SwitchPlan,
  writeJournal,
  writeProgress,
} from './journal.ts'
import type { UnitName } from './names.ts'
import { settle } from './settle.ts'
import { staticState } from './static.ts'
import { recheck, runUnits, unitsToStop, unitsToWatch } from './unit-jobs.ts'
import { unitLog } from './unit-log.ts'
import { planWayBack } from './way-back.ts'

export interface Failure {
  /** A unit, a check, or the step that failed. */
  readonly name: string
  readonly reason: string
  /** What a unit logged last before it was taken back. */
  readonly log?: readonly string[]
}

export type SwitchOutcome =
  | { readonly outcome: 'done'; readonly failed: readonly Failure[] }
  /** The old generation runs again, or never stopped running. */
  | { readonly outcome: 'went back'; readonly failed: readonly Failure[] }
  /** The journal stays open; the next start tries again. */
  | { readonly outcome: 'stuck'; readonly failed: readonly Failure[] }

type Direction = 'forward' | 'back'

export async function goForward(
  context: NodeContext,
  journal: Journal,
  { from = 'stop', attempts = 0 }: { from?: Phase; attempts?: number } = {},
): Promise<SwitchOutcome> {
  try {
    const failed = await runPhases(context, journal, 'forward', { from, attempts })
    if (failed.length === 0 || journal.keepFailed) return { outcome: 'done', failed }
    return turnBack(context, journal, failed)
  } catch (error) {
    const failed = [{ name: journal.intent, reason: messageOf(error) }]
    const reached = readProgress(context.files, context.layout, journal.id)?.phase ?? 'stop'
    return hasSwitched(context, journal, reached) ? turnBack(context, journal, failed) : undo(context, journal, failed)
  }
}

/** Before the flip: everything added is taken away, everything stopped is started. */
export async function undo(context: NodeContext, journal: Journal, failed: readonly Failure[]): Promise<SwitchOutcome> {
  const { files, layout, systemd } = context
  const { etc, units } = journal.forward
  try {
    undoEtc([...etc.before, ...etc.switch], context)
    const stopped = new Set<UnitName>(unitsToStop(units))
    await runUnits(
      systemd,
      'start',
      journal.wereActive.filter(unit => stopped.has(unit)),
    )
    if (journal.intent === 'apply' && journal.to.generation !== null)
      removeGeneration(files, layout, journal.to.generation)
    closeJournal(files, layout, journal.id)
    return { outcome: 'went back', failed }
  } catch (error) {
    return { outcome: 'stuck', failed: [...failed, { name: 'undo', reason: messageOf(error) }] }
  }
}

/** After the flip: the way back is a switch like any other, planned from what is there now. */
export async function turnBack(
  context: NodeContext,
  journal: Journal,
  failed: readonly Failure[],
): Promise<SwitchOutcome> {
  const { files, layout } = context
  try {
    const turned: Journal = { ...journal, back: await planWayBack(context, journal) }
    writeJournal(files, layout, turned)
    return await goBack(context, turned, 'stop', failed)
  } catch (error) {
    return { outcome: 'stuck', failed: [...failed, { name: 'way back', reason: messageOf(error) }] }
  }
}

export async function goBack(
  context: NodeContext,
  journal: Journal,
  from: Phase,
  failed: readonly Failure[],
): Promise<SwitchOutcome> {
  try {
    const still = await runPhases(context, journal, 'back', { from, attempts: 0 })
    return { outcome: 'went back', failed: [...failed, ...still] }
  } catch (error) {
    return { outcome: 'stuck', failed: [...failed, { name: 'way back', reason: messageOf(error) }] }
  }
}

/** Whether a forward run that reached `phase` is past the point of no return. */
export function hasSwitched({ files, layout }: NodeContext, { forward }: Journal, phase: Phase): boolean {
  const flip = forward.etc.switch[0]
  if (flip && phase === 'switch') return staticState(files, layout) === flip.to
  return phases.indexOf(phase) > phases.indexOf('switch')
}

/** Returns what failed; a forward run stops at the first failure unless it is to be kept. */
async function runPhases(
  context: NodeContext,
  journal: Journal,
  direction: Direction,
  { from, attempts }: { from: Phase; attempts: number },
): Promise<Failure[]> {
  const { files, layout, systemd } = context
  const plan = direction === 'forward' ? journal.forward : journal.back!
  const failed: Failure[] = []
  for (const phase of phases.slice(phases.indexOf(from))) {
    writeProgress(files, layout, journal.id, { phase, direction, attempts })
    switch (phase) {
      case 'stop':
        await runUnits(systemd, 'stop', unitsToStop(plan.units))
        break
      case 'before':
        applyEtc(plan.etc.before, context)
        break
      case 'switch':
        applyEtc(plan.etc.switch, context)
        break
      case 'after':
        applyEtc(plan.etc.after, context)
        break
      case 'reload-daemon':
        await systemd.resetFailed(unitsToWatch(plan.units))
        await systemd.daemonReload()
        break
      case 'act':
        failed.push(...(await act(context, plan)))
        break
      case 'settle':
        failed.push(...(await judge(context, journal, direction, plan)))
        failed.splice(0, Infinity, ...(await withLogs(context, onePerName(failed))))
        if (direction === 'forward' && failed.length > 0 && !journal.keepFailed) return failed
        break
      case 'commit':
        await commit(context, journal, direction, failed)
        break
      case 'held':
        if (direction === 'forward' && journal.hold) {
          await arm(context, journal)
          return failed
        }
    }
  }
  closeIfPossible(context, journal)
  return failed
}

/** All is done and says so on disk; a journal that cannot be removed now is removed by whoever starts next. */
function closeIfPossible({ files, layout }: NodeContext, { id }: Journal) {
  try {
    closeJournal(files, layout, id)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error
  }
}

/** Reload, then restart, then start: each one batch, so that systemd orders it. */
async function act({ systemd }: NodeContext, { units }: SwitchPlan): Promise<Failure[]> {
  const { reload, start } = await recheck(systemd, units)
  const inPlace = units.restart.filter(({ how }) => how === 'in-place').map(({ name }) => name)
  const failed = [
    ...(await runUnits(systemd, 'reload', reload)),
    ...(await runUnits(systemd, 'restart', inPlace)),
    ...(await runUnits(systemd, 'start', start)),
  ]
  const judged = new Set(unitsToWatch(units))
  return failed.filter(({ name }) => judged.has(name))
}

async function judge(
  context: NodeContext,
  journal: Journal,
  direction: Direction,
  plan: SwitchPlan,
): Promise<Failure[]> {
  const failed: Failure[] = await settle(context, unitsToWatch(plan.units))
  const generation = journal.to.generation
  if (failed.length > 0 || direction === 'back' || generation === null || context.systemd.kind === 'offline')
    return failed
  return runChecks(readConfigOf(context.files, context.layout, generation).checks ?? [], context)
}

async function commit(context: NodeContext, journal: Journal, direction: Direction, failed: readonly Failure[]) {
  const { files, layout } = context
  const reached = direction === 'forward' ? journal.to : journal.wayBack
  const outcome = direction === 'back' ? 'went back' : failed.length > 0 ? 'kept, unhealthy' : 'healthy'
  if (isNew(journal))
    writeReport(files, layout, journal.to.generation!, { outcome, failed, at: context.clock.now().toISOString() })
  if (journal.replaces) {
    await disarm(context, journal.replaces)
    closeJournal(files, layout, journal.replaces)
  }
  if (direction === 'forward' && journal.hold?.kind === 'test') return
  if (reached.generation !== null) setCurrent(files, layout, reached.generation)
  else {
    removeIfThere(files, layout.current)
    syncDirectory(files, dirname(layout.current))
  }
}

/** A repair keeps its generation, a rollback goes to one that is there. */
const isNew = ({ intent, from, to }: Journal) =>
  intent === 'apply' && to.generation !== null && to.generation !== from.generation

async function withLogs(context: NodeContext, failed: readonly Failure[]): Promise<Failure[]> {
  return Promise.all(failed.map(async failure => ({ ...failure, log: await unitLog(context, failure.name) })))
}

function onePerName(failed: readonly Failure[]): Failure[] {
  return [...new Map(failed.map(failure => [failure.name, failure])).values()]
}
