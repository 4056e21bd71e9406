// Lets resources go: out of the record, and nothing else.
import * as z from 'zod'
import type { Problem } from '../../lib/problem.ts'
import { defineKind, type Kind } from '../../resources/kind.ts'
import type { Draft } from './draft.ts'
import { groundOf } from './ground.ts'
import type { Planned } from './planned.ts'
import { notInStack } from './problems.ts'
import { changedSecrets } from './secrets.ts'
import { skipsOf as selects } from './skip.ts'
import { stepsOf } from './steps.ts'
import { termsOf } from './terms.ts'
import { addressIn, type PlanMode, type PlanView } from './view.ts'

export function forgetDraft(view: PlanView, { resources }: Extract<PlanMode, { do: 'forget' }>): Draft {
  const ground = groundOf({ ...view, kinds: withStrangers(view) }, [])
  const isMeant = resources === 'all' ? () => true : selects(resources)
  const planned = new Map<string, Planned>()
  for (const pair of ground.pairs) {
    if (!isMeant({ kind: pair.kind.kind, name: pair.name })) continue
    const reason = 'stays as it is and belongs to no stack then'
    planned.set(pair.identity, { pair, word: 'forget', why: 'asked to forget', reason, live: null, comparison: null })
  }
  const there = new Set(ground.pairs.flatMap(({ kind, address }) => [kind.kind, address]))
  const blockers: Problem[] = (resources === 'all' ? [] : resources)
    .filter(({ kind, name }) => !there.has(name === undefined ? kind : addressIn(view, { kind, name })))
    .map(selector => notInStack(view, selector))
  return {
    ground,
    terms: termsOf(ground, new Set()),
    planned,
    associations: [],
    secrets: changedSecrets(view, []),
    drift: [],
    steps: stepsOf(ground, planned, { associations: [], handovers: [] }),
    blockers,
    needs: [],
  }
}

/** What nobody here knows any more can be let go all the same. */
function withStrangers({ kinds, stack }: PlanView): ReadonlyMap<string, Kind> {
  const all = new Map(kinds)
  for (const { kind } of stack?.resources ?? []) if (!all.has(kind)) all.set(kind, strangeKind(kind))
  return all
}

const strangeKind = (kind: string): Kind =>
  defineKind({
    kind,
    summary: '',
    displayName: { unique: false, least: 0, most: 0 },
    spec: z.strictObject({}),
    columns: [],
    example: '',
  })
