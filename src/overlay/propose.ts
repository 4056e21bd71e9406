// Looks at the machine and plans a switch: /etc and units together. Changes nothing; the plan is what `cairn node plan` prints
// and what a journal carries out.
import type { Problem, Warning } from '../lib/problem.ts'
import type { NodeContext } from './context.ts'
import { type Destination, unitTree } from './destination.ts'
import type { OwnedEtc } from './etc/entry.ts'
import { readLive } from './etc/live.ts'
import { resolveOwners, thisProcess } from './etc/owners.ts'
import { type EtcPlan, isSettled, planEtc } from './etc/plan.ts'
import { scanEtc } from './etc/scan.ts'
import type { EtcTarget, UnitName } from './names.ts'
import { noUnitActions, type UnitPlan } from './units/action.ts'
import { planUnits, unitsOfInterest } from './units/plan.ts'

export interface SwitchRequest {
  readonly destination: Destination
  /** What Cairn has in /etc now. */
  readonly owned: OwnedEtc
  /** Targets that may be put right although someone edited them. */
  readonly overwriteDrift: readonly string[]
}

export interface ProposedSwitch {
  readonly etc: EtcPlan
  readonly units: UnitPlan
  /** Of the units that are looked at: those that run now. */
  readonly active: readonly UnitName[]
  readonly problems: readonly Problem[]
  readonly warnings: readonly Warning[]
}

export async function proposeSwitch(context: NodeContext, request: SwitchRequest): Promise<ProposedSwitch> {
  const { files, layout, clock } = context
  const { destination, owned } = request
  const applier = thisProcess()
  const owners = await resolveOwners({ files, layout, applier }, { wanted: destination.entries, owned: owned.entries })
  const view = {
    wanted: destination,
    owned,
    ids: owners.ids,
    overwriteDrift: new Set(request.overwriteDrift as readonly EtcTarget[]),
  }
  const live = readLive(files, layout, view, clock.now())
  const first = planEtc({ ...view, live })
  const etc =
    isSettled(first) && first.problems.length === 0 ? first : planEtc({ ...view, live, scan: scanEtc(files, layout) })
  const { units, active, warnings } =
    destination.etcState === owned.etcState ? nothingForUnits : await proposeUnits(context, destination, owned)
  return {
    etc,
    units,
    active,
    problems: [...owners.problems, ...etc.problems],
    warnings: [...etc.warnings, ...warnings],
  }
}

const nothingForUnits = { units: noUnitActions, active: [], warnings: [] }

async function proposeUnits({ files, layout, systemd }: NodeContext, destination: Destination, owned: OwnedEtc) {
  const trees = { old: unitTree(files, layout, owned.entries), new: unitTree(files, layout, destination.entries) }
  const live = await systemd.show(unitsOfInterest(trees, await systemd.active()))
  const { units, warnings } = planUnits({ ...trees, live, start: destination.start, store: layout.store })
  const running = ['active', 'activating', 'reloading']
  const active = [...live.values()].filter(status => running.includes(status.active)).map(({ unit }) => unit)
  return { units, active, warnings }
}
