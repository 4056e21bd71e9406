// Tells what became of what was applied last, and corrects nothing. Accepted, the record follows: what is gone leaves it, and
// what is live counts as applied.
import type { Draft } from './draft.ts'
import type { Planned } from './planned.ts'
import { stepsOf } from './steps.ts'
import type { PlanMode } from './view.ts'

/** `draft`: the plan that would bring back what was applied last. */
export function refreshedDraft(draft: Draft, { accept }: Extract<PlanMode, { do: 'refresh' }>): Draft {
  const planned = new Map([...draft.planned].map(([identity, one]) => [identity, refreshed(one, accept)]))
  return {
    ...draft,
    planned,
    associations: [],
    steps: stepsOf(draft.ground, planned, { associations: [], handovers: [] }),
    // Only what could not be looked at stands in the way of looking.
    blockers: draft.blockers.filter(({ code }) => code === 'live.unreadable' || code === 'kind.unknown'),
    needs: [],
  }
}

function refreshed(one: Planned, accept: boolean): Planned {
  if (one.why === 'deleted outside')
    return accept
      ? { ...one, word: 'forget', why: 'already gone', reason: 'was deleted outside and leaves the record' }
      : { ...one, word: 'none', why: 'drifted', reason: 'was deleted outside' }
  if (!one.comparison || one.comparison.changes.length === 0) return { ...one, word: 'none' }
  const reason = accept ? 'what is live counts as applied now' : 'was changed outside'
  return { ...one, word: 'none', why: 'drifted', reason }
}
