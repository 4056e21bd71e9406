// What the record says of a resource when the plan is carried out.
import { isEqual, type Json } from '../../lib/json.ts'
import type { StackResource } from '../model/stack.ts'
import type { LiveId } from '../platform.ts'
import { leavesAlone } from './associations.ts'
import type { Draft } from './draft.ts'
import { targetFrom } from './from-record.ts'
import { lastAppliedOf, referredBy } from './pair.ts'
import type { Planned, WantedPlanned } from './planned.ts'
import { acceptLive } from './three-way.ts'

/** `isTouched`: the platform is written for its sake, so it is applied now; else only the record follows. */
export function entryOf(
  planned: WantedPlanned,
  { id, dropped, now, isTouched }: { id: string; dropped: ReadonlySet<string>; now: string; isTouched: boolean },
): StackResource {
  const { pair, word } = planned
  const { wanted, entry } = pair
  return {
    apiVersion: wanted.apiVersion,
    kind: pair.kind.kind,
    name: pair.name,
    id,
    associations:
      entry && leavesAlone(planned)
        ? entry.associations
        : wanted.associations.filter(target => !dropped.has(JSON.stringify(target))),
    lifecycle: wanted.lifecycle,
    adopted: word === 'adopt' || (word !== 'create' && word !== 'replace' && entry?.adopted === true),
    lastApplied: { name: wanted.displayName, ...plain(wanted.spec) } as StackResource['lastApplied'] & object,
    envRefs: wanted.envRefs.map(use => ({ ...use })) as StackResource['envRefs'],
    appliedAt: isTouched || !entry ? now : entry.appliedAt,
  }
}

/** The live values count as applied; what the record never managed stays out of it. */
export function acceptedEntry({ ground, terms }: Draft, { pair, live }: Planned): StackResource | null {
  const { entry, kind } = pair
  const applied = lastAppliedOf(ground, pair)
  if (!entry || !applied || !live) return null
  const spec = acceptLive(kind, terms.last(kind, applied.spec), terms.live(kind, live.spec))
  const isThere = (ends: readonly LiveId[]) => ends.some(end => live.associations.some(({ id }) => id === end.id))
  const associations = entry.associations.filter(recorded => {
    const referred = referredBy(ground, targetFrom(recorded))
    if (referred.is === 'own') return isThere(referred.pair.entry ? [{ kind: '', id: referred.pair.entry.id }] : [])
    return isThere(referred.is === 'live' ? [referred.live] : referred.is === 'ambiguous' ? referred.among : [])
  })
  const lastApplied = { name: live.displayName, ...plain(spec) } as StackResource['lastApplied'] & object
  return { ...entry, associations, lastApplied }
}

export const isSameEntry = (a: StackResource, b: StackResource): boolean =>
  isEqual(a as unknown as Json, b as unknown as Json)

/** Without the keys that are not there. */
const plain = (spec: { readonly [key: string]: Json | undefined }): { [key: string]: Json } =>
  Object.fromEntries(Object.entries(spec).filter((field): field is [string, Json] => field[1] !== undefined))
