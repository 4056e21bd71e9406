// Decides what becomes of one resource that the bundle has: made, changed, replaced, taken over or left.
import { deepPath } from '../../lib/located-json.ts'
import type { Problem } from '../../lib/problem.ts'
import { markedFields, secretKeyOf } from '../../resources/fields.ts'
import type { BundleResource } from '../model/bundle.ts'
import type { Change } from '../model/plan.ts'
import type { Live } from '../platform.ts'
import { isProtected } from './deletion.ts'
import { type Ground, lastAppliedOf, liveOf, type Pair, type WantedPair } from './pair.ts'
import type { Planned } from './planned.ts'
import { adoptNeedsReplacement, resourceProtected, unreadable } from './problems.ts'
import { createReason, replaceReason, updateReason } from './reasons.ts'
import type { ChangedSecrets } from './secrets.ts'
import type { Terms } from './terms.ts'
import { type Comparison, compareFields } from './three-way.ts'

export interface Sight {
  readonly ground: Ground
  readonly terms: Terms
  readonly secrets: ChangedSecrets
}

export function planWanted(sight: Sight, pair: WantedPair, blockers: Problem[]): Planned {
  const { ground } = sight
  const found = pair.entry ? ground.view.live.get(pair.entry.id) : undefined
  if (found && 'unreadable' in found) {
    blockers.push(unreadable(pair, found))
    return { pair, word: 'none', why: 'skipped', reason: 'could not be read', live: null, comparison: null }
  }
  const live = liveOf(ground, pair)
  if (live) return planThere(sight, pair, live, blockers)
  const created = { pair, word: 'create', live: null, comparison: null } as const
  return pair.entry
    ? { ...created, why: 'deleted outside', reason: 'was deleted outside and is made again' }
    : { ...created, why: 'new in the bundle', reason: createReason(pair.wanted.source?.file) }
}

function planThere(sight: Sight, pair: WantedPair, live: Live, blockers: Problem[]): Planned {
  const { ground } = sight
  const { noStack, mode } = ground.view
  const isAdopted = ground.adopted.has(pair.identity)
  const comparison = live.kind === pair.kind.kind ? compared(sight, pair, live) : otherKind(pair, live)
  const forcing = comparison.changes.find(({ forcesReplacement }) => forcesReplacement)
  const seen = { pair, live, comparison }

  if (forcing && mode.do === 'reconcile')
    return { ...seen, word: 'none', why: 'drifted', reason: `${forcing.path} could only be corrected by a replacement` }
  if (forcing && isAdopted) blockers.push(adoptNeedsReplacement(pair, forcing.path))
  else if (forcing) {
    if (isProtected(pair)) blockers.push(resourceProtected(pair, 'replace', forcing.path))
    const reason = replaceReason(comparison.changes, pair.kind)
    return { ...seen, word: 'replace', why: 'an immutable field changed', reason }
  }
  if (isAdopted && !noStack) {
    const count = comparison.changes.length
    const reason =
      count === 0
        ? 'is taken over as it is'
        : `is taken over; ${count} ${count === 1 ? 'field changes' : 'fields change'}`
    return { ...seen, word: 'adopt', why: 'asked to adopt', reason }
  }
  if (comparison.changes.length > 0) return { ...seen, word: 'update', ...updateReason(comparison.changes) }
  if (pair.movedFrom !== undefined)
    return { ...seen, word: 'none', why: 'renamed', reason: `the record had it as ${pair.movedFrom}` }
  return comparison.converged
    ? { ...seen, word: 'none', why: 'converged', reason: 'was changed outside to what the bundle wants now' }
    : { ...seen, word: 'none', why: 'equal', reason: 'is as the bundle wants it' }
}

function compared({ ground, terms, secrets }: Sight, pair: WantedPair, live: Live): Comparison {
  const { wanted, kind } = pair
  const applied = lastAppliedOf(ground, pair)
  const comparison = compareFields(
    {
      kind,
      last: applied && terms.last(kind, applied.spec),
      live: terms.live(kind, live.spec),
      wanted: terms.wanted(kind, wanted.spec),
      ignore: wanted.lifecycle.ignore ?? [],
    },
    { live: live.displayName, wanted: wanted.displayName, ...(applied && { last: applied.name }) },
  )
  if (!wanted.secretKeys.some(key => secrets.has(kind.kind, key))) return comparison
  const known = new Set(comparison.changes.map(({ path }) => path))
  const changed = secretChanges(wanted, secrets).filter(({ path }) => !known.has(path))
  return {
    ...comparison,
    changes: [...comparison.changes, ...changed],
    unchanged: Math.max(0, comparison.unchanged - changed.length),
  }
}

/** Where the resource uses a secret that gets another value. */
function secretChanges({ kind, spec }: BundleResource, secrets: ChangedSecrets): Change[] {
  const changes: Change[] = []
  for (const { path, mark, value } of markedFields(kind.spec, spec)) {
    const key = mark.secret && secretKeyOf(value)
    if (key === undefined || !secrets.has(kind.kind, key)) continue
    changes.push({ path: deepPath('spec', path), old: '(secret)', new: '(secret, changed)', why: 'secret' })
  }
  return changes
}

/** Two kinds of one family: nothing of the one means anything to the other. */
const otherKind = ({ kind }: Pair, live: Live): Comparison => ({
  changes: [{ path: 'kind', old: live.kind, new: kind.kind, why: 'bundle', forcesReplacement: true }],
  unchanged: 0,
  converged: false,
})
