// From a destination to a machine that runs it: recover what is open, plan, look once more whether it can work, journal, go.
import { messageOf, RefusedError } from '../lib/errors.ts'
import type { Warning } from '../lib/problem.ts'
import { boots, writeBootUnit } from './boot-unit.ts'
import type { NodeContext } from './context.ts'
import type { Destination } from './destination.ts'
import type { OwnedEtc } from './etc/entry.ts'
import { isSettled } from './etc/plan.ts'
import {
  currentNumber,
  generationNumbers,
  hashOfConfig,
  readGenerationOrNothing,
  rewriteManifest,
  takeNumber,
  writeGeneration,
} from './generations.ts'
import { type Hold, type Journal, type OpenJournal, type Side, writeJournal } from './journal.ts'
import { preflight } from './preflight.ts'
import { type ProposedSwitch, proposeSwitch } from './propose.ts'
import { recover } from './recover.ts'
import { type ApplyReport, countedEtc, reportedUnits } from './report.ts'
import { goForward, type SwitchOutcome, undo } from './switch.ts'
import { noUnitActions } from './units/action.ts'

export interface Activation {
  readonly intent: Journal['intent']
  /** Asked for once what is open has been recovered: the way back depends on it. */
  destination(here: Here): Destination
  readonly overwriteDrift?: readonly string[]
  readonly keepFailed?: boolean
  /** Made when the journal is written, so that a window counts from then. */
  readonly hold?: () => Hold
  /** Rehash every state of the destination first. */
  readonly verify?: boolean
  readonly warnings?: readonly Warning[]
}

/** What the machine runs, and where a failure or an unconfirmed window leads. */
export interface Here {
  readonly side: Side
  readonly owned: OwnedEtc
  readonly wayBack: Side
  readonly held: OpenJournal | null
}

export async function activate(context: NodeContext, activation: Activation): Promise<ApplyReport> {
  const { clock } = context
  const startedMs = clock.monotonicMs()
  const recovery = await recover(context)
  const here = hereOf(context, recovery.held)
  const base = {
    generation: here.side.generation,
    previous: here.side.generation,
    etc: { added: 0, changed: 0, removed: 0 },
    units: reportedUnits(noUnitActions),
    acted: context.systemd.kind !== 'offline',
    failed: [],
    notes: recovery.notes,
    warnings: activation.warnings ?? [],
  }
  const seconds = () => (clock.monotonicMs() - startedMs) / 1000
  if (!recovery.whole) return { ...base, outcome: 'undo incomplete', changed: false, seconds: seconds() }

  const destination = activation.destination(here)
  const overwriteDrift = activation.overwriteDrift ?? []
  const proposed = await proposeSwitch(context, { destination, owned: here.owned, overwriteDrift })
  const warnings = [...base.warnings, ...proposed.warnings]
  if (proposed.problems.length > 0) throw refusal(proposed)
  if (isNothing(context, here, destination, proposed) && !endsHold(activation, here))
    return { ...base, outcome: 'nothing to do', changed: false, warnings, seconds: seconds() }
  await preflight(context, { destination, proposed, verify: activation.verify === true })

  const journal = draftJournal(context, { activation, here, destination, proposed })
  const result = await begin(context, journal, destination)
  return {
    ...base,
    outcome: outcomeOf(result),
    changed: result.outcome !== 'went back',
    generation: result.outcome === 'done' ? journal.to.generation : journal.wayBack.generation,
    etc: countedEtc(proposed.etc.summary),
    units: reportedUnits(proposed.units),
    failed: result.failed.map(failure => ({ ...failure, log: failure.log ?? [] })),
    ...(journal.hold?.kind === 'confirm' &&
      result.outcome === 'done' && { confirm: { id: journal.id, deadline: journal.hold.deadline.at } }),
    warnings,
    seconds: seconds(),
  }
}

export function hereOf({ files, layout }: NodeContext, held: OpenJournal | null): Here {
  if (held) {
    const { to, wayBack, forward } = held.journal
    return { side: to, owned: forward.etc.owned, wayBack, held }
  }
  const generation = currentNumber(files, layout)
  const owned = readGenerationOrNothing(files, layout, generation)
  const side = { generation, etcState: owned.etcState }
  return { side, owned, wayBack: side, held }
}

function draftJournal(
  context: NodeContext,
  {
    activation,
    here,
    destination,
    proposed,
  }: {
    activation: Activation
    here: Here
    destination: Destination
    proposed: ProposedSwitch
  },
): Journal {
  const { before, switch: flip, after, owned } = proposed.etc
  return {
    schema: 1,
    id: context.newId(),
    startedAt: context.clock.now().toISOString(),
    intent: activation.intent,
    from: here.side,
    to: { generation: numberFor(context, activation, here, destination), etcState: destination.etcState },
    forward: { etc: { before, switch: flip, after, owned }, units: proposed.units },
    wayBack: here.wayBack,
    wereActive: proposed.active,
    keepFailed: activation.keepFailed === true,
    ...(activation.hold && { hold: activation.hold() }),
    ...(here.held && { replaces: here.held.journal.id }),
  }
}

/** Another config, or other content from the same one, takes a new number; a repair keeps its own, a rollback has one. */
function numberFor(context: NodeContext, { intent }: Activation, here: Here, destination: Destination): number | null {
  const isSame = destination.etcState === here.side.etcState && isSameConfig(context, here, destination)
  if (intent === 'apply' && !isSame) return takeNumber(context.files, context.layout)
  return destination.generation ?? (destination.etcState && here.side.generation)
}

/** The journal is on disk before the generation, so that an interruption in between leaves nothing that looks like one. */
async function begin(context: NodeContext, journal: Journal, destination: Destination): Promise<SwitchOutcome> {
  const { files, layout, systemd } = context
  const { generation } = journal.to
  try {
    if (boots(systemd)) writeBootUnit(files, layout, context.self)
    writeJournal(files, layout, journal)
    if (generation !== null) recordGeneration(context, journal, destination, generation)
  } catch (error) {
    return undo(context, journal, [{ name: journal.intent, reason: messageOf(error) }])
  }
  return goForward(context, journal)
}

function recordGeneration(
  { files, layout }: NodeContext,
  journal: Journal,
  destination: Destination,
  generation: number,
) {
  const { owned } = journal.forward.etc
  if (generationNumbers(files, layout).includes(generation)) return rewriteManifest(files, layout, generation, owned)
  const { version, config } = destination
  const made = {
    schema: 1,
    generation,
    version,
    createdAt: journal.startedAt,
    configSha256: hashOfConfig(destination.config),
  } as const
  writeGeneration(files, layout, { ...owned, ...made }, config)
}

const isNothing = (context: NodeContext, here: Here, destination: Destination, { etc }: ProposedSwitch): boolean =>
  isSettled(etc) &&
  destination.etcState === here.side.etcState &&
  (destination.generation === null
    ? isSameConfig(context, here, destination)
    : destination.generation === here.side.generation)

/** The same config again neither confirms a window nor ends it; it makes a test permanent, and a new window replaces the old. */
const endsHold = ({ hold }: Activation, { held }: Here): boolean =>
  held !== null && (hold !== undefined || held.journal.hold?.kind === 'test')

function isSameConfig({ files, layout }: NodeContext, { side }: Here, destination: Destination): boolean {
  if (side.generation === null) return destination.etcState === null
  const current = readGenerationOrNothing(files, layout, side.generation)
  return 'configSha256' in current && current.configSha256 === hashOfConfig(destination.config)
}

function outcomeOf({ outcome, failed }: SwitchOutcome): ApplyReport['outcome'] {
  switch (outcome) {
    case 'done':
      return failed.length > 0 ? 'applied, unhealthy' : 'applied'
    case 'went back':
      return 'rolled back'
    case 'stuck':
      return 'undo incomplete'
  }
}

function refusal({ problems }: ProposedSwitch): RefusedError {
  const conflicts = problems.filter(({ code }) => code === 'etc.conflict').length
  const count = conflicts || problems.length
  const what = conflicts > 0 ? 'conflict' : 'problem'
  return new RefusedError('etc.conflict', `${count} ${what}${count === 1 ? '' : 's'}. Nothing was changed.`, {
    problems,
  })
}
