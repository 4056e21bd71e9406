// Takes live resources into the record as they are; nothing is written to the platform. All or none: one blocker stops all.
import type { Problem } from '../../lib/problem.ts'
import { derivedName } from '../export/names.ts'
import { type BundleResource, identityOf } from '../model/bundle.ts'
import type { Live } from '../platform.ts'
import type { Draft } from './draft.ts'
import { recordedResources } from './from-record.ts'
import { groundOf } from './ground.ts'
import type { WantedPair } from './pair.ts'
import type { Planned } from './planned.ts'
import { importAmbiguous, importNameTaken, importUnknown, unreadable } from './problems.ts'
import { changedSecrets } from './secrets.ts'
import { stepsOf } from './steps.ts'
import { type Terms, termsOf } from './terms.ts'
import { compareFields } from './three-way.ts'
import { addressIn, type ImportWish, isReadable, nameKey, type PlanMode, type PlanView } from './view.ts'

export function importDraft(view: PlanView, { resources }: Extract<PlanMode, { do: 'import' }>): Draft {
  const blockers: Problem[] = []
  const recorded = recordedResources(view)
  const taken = new Set(recorded.map(identityOf))
  const claims = new Map<string, { claim: BundleResource; live: Live }>()
  for (const wish of resources) {
    const live = wishedFor(view, wish)
    if ('code' in live) {
      blockers.push(live)
      continue
    }
    const claim = claimOf(view, wish, live)
    const identity = identityOf(claim)
    if (taken.has(identity)) blockers.push(importNameTaken(addressIn(view, { kind: live.kind, name: claim.name })))
    else claims.set(identity, { claim, live })
    taken.add(identity)
  }
  const ground = groundOf(view, [...recorded, ...[...claims.values()].map(({ claim }) => claim)])
  const terms = termsOf(ground, new Set())
  const planned = new Map<string, Planned>()
  for (const [identity, { claim, live }] of claims)
    planned.set(identity, imported({ ...ground.byIdentity.get(identity)!, wanted: claim }, live, terms))
  return {
    ground,
    terms,
    planned,
    associations: [],
    secrets: changedSecrets(view, []),
    drift: [],
    steps: stepsOf(ground, planned, { associations: [], handovers: [] }),
    blockers: [...blockers, ...ground.blockers],
    needs: [],
  }
}

function wishedFor(view: PlanView, wish: ImportWish): Live | Problem {
  if (wish.id !== undefined) {
    const live = view.live.get(wish.id)
    if (live && !isReadable(live)) return unreadable({ address: `${wish.kind}/${wish.id}`, wanted: null }, live)
    return live?.kind === wish.kind ? live : importUnknown(wish)
  }
  const found = view.found.get(nameKey(wish.kind, wish.displayName ?? '')) ?? []
  const [live, ...more] = found
  if (!live) return importUnknown(wish)
  return more.length > 0 ? importAmbiguous(wish, found) : live
}

/** Says whose it is to be. What it holds is filled in when names can be told for what it refers to. */
const claimOf = (view: PlanView, wish: ImportWish, live: Live): BundleResource => ({
  kind: view.kinds.get(live.kind)!,
  apiVersion: live.apiVersion,
  name: wish.name ?? derivedName(live),
  displayName: live.displayName,
  spec: {},
  associations: [],
  lifecycle: { adopt: { id: live.id } },
  movedFrom: [],
  references: [],
  secretKeys: [],
  envRefs: [],
})

function imported(pair: WantedPair, live: Live, terms: Terms): Planned {
  const { kind } = pair
  const spec = terms.live(kind, live.spec)
  const associations = live.associations.flatMap(target => terms.target(target) ?? [])
  // The bundle that it is pasted into decides on its life; until then it stays, like everything that was adopted.
  const wanted: BundleResource = { ...pair.wanted, spec, associations, lifecycle: {} }
  const same = { kind, last: null, live: spec, wanted: spec, ignore: [] }
  const comparison = compareFields(same, { live: live.displayName, wanted: live.displayName })
  const reason = 'is taken over as it is'
  return { pair: { ...pair, wanted }, word: 'adopt', why: 'asked to adopt', reason, live, comparison }
}
