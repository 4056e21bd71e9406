// Plans the way back from a switch that failed after the flip, or was not confirmed: a switch like any other, to the
// generation that ran before, from whatever the failed one left. It acts on the union of both unit lists: what the failed
// switch stopped is started again even where nothing in the old definitions asks for it.
import { CairnError } from '../lib/errors.ts'
import type { NodeContext } from './context.ts'
import { destinationOfGeneration } from './destination.ts'
import { ownedBetween } from './etc/owned.ts'
import { readGenerationOrNothing } from './generations.ts'
import type { Journal, SwitchPlan } from './journal.ts'
import type { UnitName } from './names.ts'
import { proposeSwitch } from './propose.ts'
import type { UnitStatus } from './systemd/systemd.ts'
import type { UnitPlan } from './units/action.ts'

export async function planWayBack(context: NodeContext, journal: Journal): Promise<SwitchPlan> {
  const { files, layout, systemd } = context
  const former = readGenerationOrNothing(files, layout, journal.from.generation)
  const { etc, units, problems } = await proposeSwitch(context, {
    destination: destinationOfGeneration(context, journal.wayBack.generation),
    owned: ownedBetween(former, journal.forward.etc.owned),
    overwriteDrift: [],
  })
  if (problems.length > 0) throw new CairnError('etc.way-back-blocked', problems.map(({ reason }) => reason).join('; '))
  return { etc, units: startAgain(units, journal.wereActive, await systemd.show(journal.wereActive)) }
}

export function startAgain(
  plan: UnitPlan,
  wereActive: readonly UnitName[],
  live: ReadonlyMap<UnitName, UnitStatus>,
): UnitPlan {
  const handled = new Set([...plan.start, ...plan.restart, ...plan.reload].map(({ name }) => name))
  const lost = wereActive.filter(
    unit => !handled.has(unit) && ['inactive', 'failed'].includes(live.get(unit)?.active ?? ''),
  )
  return { ...plan, start: [...plan.start, ...lost.map(name => ({ name, reason: 'ran before' }))] }
}
