// One identity seen from up to three sides (bundle, record, platform), and what references mean among all of them.
import type { Json } from '../../lib/json.ts'
import type { Problem } from '../../lib/problem.ts'
import type { Kind, Spec } from '../../resources/kind.ts'
import { type BundleResource, identityOf, type Target } from '../model/bundle.ts'
import type { StackResource } from '../model/stack.ts'
import type { Live, LiveId } from '../platform.ts'
import { isReadable, nameKey, type PlanView } from './view.ts'

/** At least one of `wanted` and `entry` is there. */
export interface Pair {
  readonly identity: string
  /** `Label/edge`, as Problems and `dependsOn` name it. */
  readonly address: string
  readonly kind: Kind
  readonly name: string
  readonly wanted: BundleResource | null
  readonly entry: StackResource | null
  /** The name that the entry has in the record, when another. */
  readonly movedFrom?: string
  readonly skipped: boolean
  /** In the bundle, or perhaps in it, but not understood. */
  readonly invalid: boolean
}

export type WantedPair = Pair & { readonly wanted: BundleResource }

export const isWanted = (pair: Pair): pair is WantedPair => pair.wanted !== null

export interface Ground {
  readonly view: PlanView
  /** What is referred to stands before what refers to it; among equals kind and name decide. */
  readonly pairs: readonly Pair[]
  readonly byIdentity: ReadonlyMap<string, Pair>
  /** By id of the entry, or of what is adopted. */
  readonly byId: ReadonlyMap<string, Pair>
  /** By `nameKey`, of what the bundle wants. */
  readonly byDisplayName: ReadonlyMap<string, Pair>
  /** Identity in the record to id. */
  readonly recorded: ReadonlyMap<string, string>
  /** Identity in the bundle to the live resource that it takes over. */
  readonly adopted: ReadonlyMap<string, Live>
  readonly families: Families
  readonly blockers: readonly Problem[]
}

/** Family to its kinds. */
export type Families = ReadonlyMap<string, readonly string[]>

/** The live resource that belongs to a pair: the one that it takes over, or the one of its entry. */
export function liveOf({ view, adopted }: Pick<Ground, 'view' | 'adopted'>, pair: Pair): Live | null {
  const live = adopted.get(pair.identity) ?? (pair.entry ? view.live.get(pair.entry.id) : undefined)
  return isReadable(live) ? live : null
}

/** What was applied last to the live resource of the pair; null for one that is only taken over now. */
export function lastAppliedOf({ adopted }: Pick<Ground, 'adopted'>, pair: Pair): { name: Json; spec: Spec } | null {
  const applied = adopted.has(pair.identity) ? undefined : pair.entry?.lastApplied
  if (!applied) return null
  const { name, ...spec } = applied
  return { name: (name ?? null) as Json, spec: spec as Spec }
}

export type Referred =
  | { readonly is: 'own'; readonly pair: Pair }
  | { readonly is: 'live'; readonly live: Live }
  | { readonly is: 'absent' }
  | { readonly is: 'ambiguous'; readonly among: readonly LiveId[] }
  /** The bundle itself is wrong there, and says so elsewhere. */
  | { readonly is: 'not understood' }

/** What a reference of the bundle means. */
export function referredBy(
  ground: Pick<Ground, 'view' | 'byIdentity' | 'byDisplayName' | 'byId'>,
  target: Target,
  byDisplayName = false,
): Referred {
  const { view } = ground
  const kind = view.kinds.get(target.kind)
  if (!kind) return { is: 'not understood' }
  if (target.name !== undefined) {
    const own = ground.byIdentity.get(identityOf({ kind, name: target.name }))
    return own?.wanted ? { is: 'own', pair: own } : { is: 'not understood' }
  }
  const name = nameKey(target.kind, target.external ?? '')
  const shown = byDisplayName ? ground.byDisplayName.get(name) : undefined
  if (shown) return { is: 'own', pair: shown }
  const found = view.found.get(name) ?? []
  const [live, ...more] = found
  if (!live) return { is: 'absent' }
  if (more.length > 0) return { is: 'ambiguous', among: found }
  const own = ground.byId.get(live.id)
  if (!own?.wanted) return { is: 'live', live }
  // Its own bundle gives it another name, so that this one means nothing afterwards.
  return byDisplayName && !own.skipped ? { is: 'absent' } : { is: 'own', pair: own }
}

/** Every live resource of the kind's family that has the display name. */
export const holdersOf = (
  { view, families }: Pick<Ground, 'view' | 'families'>,
  { kind, displayName }: { kind: Kind; displayName: string },
): readonly Live[] => (families.get(kind.family) ?? []).flatMap(one => view.found.get(nameKey(one, displayName)) ?? [])

export function familiesOf(view: Pick<PlanView, 'kinds'>): Families {
  const families = Map.groupBy(view.kinds.values(), ({ family }) => family)
  return new Map([...families].map(([family, kinds]) => [family, kinds.map(({ kind }) => kind)]))
}
