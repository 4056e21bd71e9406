// Everything a plan is made from, as values. gather.ts reads it; plan.ts and writes.ts decide from it and ask nobody.
import type { Json } from '../../lib/json.ts'
import type { Secret } from '../../lib/redact.ts'
import type { Kind } from '../../resources/kind.ts'
import type { Bundle } from '../model/bundle.ts'
import { addressOf } from '../model/bundle.ts'
import type { Stack } from '../model/stack.ts'
import type { Live, LiveId, Unreadable } from '../platform.ts'
import type { Selector } from '../request.ts'
import type { Owner } from '../store.ts'

export type PlanMode =
  /** The bundle is what the stack is to hold. */
  | { readonly do: 'apply' }
  /** What the record says was applied last is wanted again. Corrects drift; never deletes and never replaces. */
  | { readonly do: 'reconcile' }
  /** The bundle of nothing: deletes or forgets by the recorded policy. */
  | { readonly do: 'uninstall' }
  /** Out of the record, nothing on the platform. */
  | { readonly do: 'forget'; readonly resources: readonly Selector[] | 'all' }
  /** Into the record as it is live, nothing on the platform. All or none. */
  | { readonly do: 'import'; readonly resources: readonly ImportWish[] }
  /** Tells drift. `accept`: what is live counts as applied last, and what is gone leaves the record. */
  | { readonly do: 'refresh'; readonly accept: boolean }

export interface ImportWish {
  readonly kind: string
  /** One of the two. */
  readonly id?: string
  readonly displayName?: string
  /** metadata.name; absent: derived as the export does it. */
  readonly name?: string
}

export interface PlanView {
  readonly mode: PlanMode
  /** Null: apply makes one, or there is to be none. */
  readonly stack: Stack | null
  /** Of the stack that apply makes. */
  readonly stackName: string
  /** Nothing recorded, nothing deleted. Only with `apply` and without a stack. */
  readonly noStack: boolean
  /** `emptyBundle` unless the mode is `apply`. */
  readonly bundle: Bundle
  /** False: the bundle has Problems; the plan shows what could be understood and is not applicable. */
  readonly valid: boolean
  /** Identities that stand in the bundle but were not understood: nothing is planned for them, least of all a delete. */
  readonly invalid: ReadonlySet<string>
  /** False: some of the bundle could not be read at all, so that what is not in it may stand there all the same. */
  readonly isComplete: boolean
  /** Names of the sources, for the record and for reasons. */
  readonly sources: readonly string[]
  readonly skip: readonly Selector[]
  readonly adopt?: 'byName'
  /** As supplied; only its hash gets into the plan. */
  readonly env: Readonly<Record<string, Json>>

  /** By `kind`. */
  readonly kinds: ReadonlyMap<string, Kind>
  /** Kind to the name of its platform; Cairn's own ('') may be left out. */
  readonly platformOf: ReadonlyMap<string, string>

  /** By id: all that the record has, all that is referred to, all that was found by name. Absent means gone. */
  readonly live: ReadonlyMap<string, Live | Unreadable>
  /** By `nameKey`: who has a display name that is wanted or referred to. */
  readonly found: ReadonlyMap<string, readonly Live[]>
  /** By id, of everything in `live` that a stack owns. */
  readonly owners: ReadonlyMap<string, Owner>
  /** By id of what would be deleted or replaced: who refers hard to it. */
  readonly referrers: ReadonlyMap<string, readonly Referrer[]>
  readonly secrets: SecretsView

  readonly now: Date
  readonly planLifeMs: number
}

export type Referrer = LiveId & { readonly displayName: string }

export interface SecretsView {
  /** Values that came with the request; they go into writes and nowhere else. */
  readonly values: ReadonlyMap<string, Secret>
  /** By platform: keyed fingerprints by secret key. */
  readonly platforms: ReadonlyMap<
    string,
    { readonly stored: ReadonlyMap<string, string>; readonly supplied: ReadonlyMap<string, string> }
  >
}

export const emptyBundle: Bundle = { resources: [], hash: '' }

/** Where `found` has those of one kind with one display name. */
export const nameKey = (kind: string, displayName: string): string => `${kind}/${displayName}`

export const isReadable = (live: Live | Unreadable | undefined): live is Live =>
  live !== undefined && !('unreadable' in live)

/** `Label/edge`, with the platform before it unless it is Cairn's own. */
export const addressIn = (
  { platformOf }: Pick<PlanView, 'platformOf'>,
  { kind, name }: { kind: string; name: string },
): string => addressOf({ kind, name }, platformOf.get(kind))
