// A plan before it is printed or carried out: everything decided, nothing spelt. plan.ts and writes.ts are two views of it.
import { byName } from '../../lib/by-name.ts'
import type { Problem } from '../../lib/problem.ts'
import type { BundleResource } from '../model/bundle.ts'
import type { Confirmation, Plan } from '../model/plan.ts'
import { type PlannedAssociation, planAssociations } from './associations.ts'
import { confirmationsFor, planLeaving, referencedBlockers } from './deletion.ts'
import { driftOf } from './drift.ts'
import { planWanted } from './fate.ts'
import { groundOf } from './ground.ts'
import { nameHandovers } from './names.ts'
import { type Ground, isWanted, type Pair } from './pair.ts'
import { isFresh, type Planned } from './planned.ts'
import { nameCycle } from './problems.ts'
import { referenceBlockers } from './references.ts'
import { type ChangedSecrets, changedSecrets } from './secrets.ts'
import { type OrderedSteps, stepsOf } from './steps.ts'
import { type Terms, termsOf } from './terms.ts'
import type { PlanView } from './view.ts'
import { refersAfter } from './written.ts'

export interface Draft {
  readonly ground: Ground
  readonly terms: Terms
  /** By identity, sorted by kind and name. */
  readonly planned: ReadonlyMap<string, Planned>
  readonly associations: readonly PlannedAssociation[]
  readonly secrets: ChangedSecrets
  readonly drift: Plan['drift']
  readonly steps: OrderedSteps
  readonly blockers: readonly Problem[]
  readonly needs: readonly Confirmation[]
}

/** What the bundle, or what stands for it, asks for. */
export function draftOf(view: PlanView, resources: readonly BundleResource[]): Draft {
  const ground = groundOf(view, resources)
  const blockers: Problem[] = [...ground.blockers]
  const fresh = new Set<string>()
  const terms = termsOf(ground, fresh)
  const secrets = changedSecrets(
    view,
    ground.pairs.flatMap(({ wanted, skipped }) => (wanted && !skipped ? [wanted] : [])),
  )
  const decided: Planned[] = []
  for (const pair of ground.pairs) {
    const one = planPair(pair, ground, { terms, secrets }, blockers)
    decided.push(one)
    if (isFresh(one)) fresh.add(pair.identity)
  }
  const planned = sortedPlans(decided)
  const associations = planAssociations(ground, planned, blockers)
  const handovers = nameHandovers(ground, planned, blockers)
  const steps = stepsOf(ground, planned, { associations, handovers })
  blockers.push(
    ...referenceBlockers(ground, planned),
    ...referencedBlockers(
      ground,
      planned,
      onceEach(one => refersAfter({ ground, terms }, one, fresh)),
    ),
    ...steps.nameCycles.map(nameCycle),
  )
  const needs = confirmationsFor(ground, [...planned.values()])
  const drift = view.mode.do === 'uninstall' ? [] : driftOf(planned.values())
  return { ground, terms, planned, associations, secrets, drift, steps, blockers, needs }
}

function planPair(
  pair: Pair,
  ground: Ground,
  sight: { terms: Terms; secrets: ChangedSecrets },
  blockers: Problem[],
): Planned {
  const left = { pair, word: 'none', why: 'skipped', live: null, comparison: null } as const
  if (pair.skipped) return { ...left, reason: pair.entry ? 'skipped; stays as it is' : 'skipped; is not made' }
  if (isWanted(pair)) return planWanted({ ground, ...sight }, pair, blockers)
  if (pair.invalid) {
    const why = ground.view.isComplete ? 'has problems in the bundle' : 'the bundle could not be read as a whole'
    return { ...left, reason: `${why}; nothing is planned for it` }
  }
  const { mode } = ground.view
  if (mode.do === 'apply' || mode.do === 'uninstall') return planLeaving(ground, pair, blockers)
  return { ...left, reason: 'nothing was applied to it yet' }
}

function sortedPlans(decided: readonly Planned[]): Map<string, Planned> {
  const sorted = decided.toSorted(
    ({ pair: a }, { pair: b }) => byName(a.kind.kind, b.kind.kind) || byName(a.name, b.name),
  )
  return new Map(sorted.map(one => [one.pair.identity, one]))
}

/** One that refers to many of the deleted is asked about each of them. */
function onceEach<Answer>(ask: (planned: Planned) => Answer): (planned: Planned) => Answer {
  const answers = new Map<Planned, Answer>()
  return planned => {
    const known = answers.get(planned)
    if (known !== undefined) return known
    const answer = ask(planned)
    answers.set(planned, answer)
    return answer
  }
}
