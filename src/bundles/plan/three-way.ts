// Compares a resource path by path over what was applied last, what is live and what is wanted, and makes the spec that is
// written: what the bundle manages as it says, everything else as it is live.
// All three are in the same terms (live-terms.ts), so that equal means equal.
import { fieldIn, isEqual, isFields, type Json } from '../../lib/json.ts'
import { fieldPath } from '../../lib/located-json.ts'
import type { Kind, Spec } from '../../resources/kind.ts'
import type { Change } from '../model/plan.ts'
import { type Field, fieldOf } from './shape.ts'

export interface ThreeWay {
  readonly kind: Kind
  /** Null: nothing was applied yet, so live has not drifted from anything. */
  readonly last: Spec | null
  readonly live: Spec
  readonly wanted: Spec
  /** `lifecycle.ignore`. */
  readonly ignore: readonly string[]
}

export interface Comparison {
  readonly changes: readonly Change[]
  readonly unchanged: number
  /** Some value was changed in the bundle and outside, to the same. */
  readonly converged: boolean
}

/** One place of the three values. */
interface Place {
  readonly field: Field
  readonly path: string
  readonly immutable: boolean
  readonly last: Json | undefined
  readonly live: Json | undefined
  readonly wanted: Json | undefined
}

export function compareFields(three: ThreeWay, names: { last?: Json; live: string; wanted: string }): Comparison {
  const result = { changes: [] as Change[], unchanged: 0, converged: false }
  const compare = (place: Place): void => {
    const { path, last, live, wanted } = place
    if ((last === undefined && wanted === undefined) || isIgnored(path, three.ignore)) return
    const parts = partsOf(place)
    if (parts) {
      for (const part of parts) compare(part)
      return
    }
    if (!isEqual(live, wanted)) result.changes.push(changeAt(place, three.last !== null))
    else {
      if (wanted !== undefined) result.unchanged++
      if (three.last !== null && !isEqual(last, wanted)) result.converged = true
    }
  }
  compare({
    field: leaf,
    path: 'spec.name',
    immutable: false,
    last: names.last,
    live: names.live,
    wanted: names.wanted,
  })
  const whole = root(three)
  // So it is with nearly all, and then it takes no look at each place of the three.
  if (
    three.ignore.length === 0 &&
    isEqual(three.live, three.wanted) &&
    isEqual(three.last ?? three.wanted, three.wanted)
  )
    result.unchanged += placesIn(whole.field, three.wanted)
  else compare(whole)
  return result
}

/** How many places a value is compared by. */
function placesIn({ shape }: Field, value: Json | undefined): number {
  if (value === undefined) return 0
  switch (shape.is) {
    case 'leaf':
    case 'reference':
    case 'list':
      return 1
    case 'union': {
      const variant = shape.variant(value)
      return variant ? placesIn(variant, value) : 1
    }
    case 'object':
    case 'map': {
      if (!isFields(value)) return 1
      let count = 0
      for (const key of Object.keys(value)) count += placesIn(shape.field(key), value[key])
      return count
    }
    case 'keyed list': {
      const members = membersOf(value, shape.key)
      if (!members) return 1
      let count = 0
      for (const member of members.values()) count += placesIn(shape.item(), member)
      return count
    }
  }
}

/** Ignored and unmanaged places keep what is live. */
export function mergeOverLive(three: ThreeWay): Spec {
  const merge = (place: Place): Json | undefined => {
    const { path, last, live, wanted, field } = place
    if ((last === undefined && wanted === undefined) || isIgnored(path, three.ignore)) return live
    const parts = partsOf(place)
    if (!parts) return wanted
    const merged = parts.map(part => [part.key, merge(part)] as const).filter(([, value]) => value !== undefined)
    if (wanted === undefined && merged.length === 0) return undefined
    return field.shape.is === 'keyed list' || Array.isArray(live)
      ? merged.map(([, value]) => value as Json)
      : Object.fromEntries(merged)
  }
  return (merge(root(three)) ?? {}) as Spec
}

/** What counts as applied last when live values are accepted: those of the places that were managed. */
export function acceptLive(kind: Kind, last: Spec, live: Spec): Spec {
  const accept = (place: Place): Json | undefined => {
    if (place.last === undefined) return undefined
    const parts = partsOf(place)
    if (!parts) return place.live
    const kept = parts.map(part => [part.key, accept(part)] as const).filter(([, value]) => value !== undefined)
    return Array.isArray(place.live) ? kept.map(([, value]) => value as Json) : Object.fromEntries(kept)
  }
  return (accept(root({ kind, last, live, wanted: last, ignore: [] })) ?? {}) as Spec
}

const leaf: Field = { shape: { is: 'leaf' }, refers: false, immutable: false }

const root = ({ kind, last, live, wanted }: ThreeWay): Place => ({
  field: fieldOf(kind.spec),
  path: 'spec',
  immutable: false,
  last: last ?? {},
  live,
  wanted,
})

/** Also what lies below an ignored path. */
export function isIgnored(path: string, ignore: readonly string[]): boolean {
  return ignore.some(
    ignored => path.startsWith(ignored) && (path.length === ignored.length || '.['.includes(path[ignored.length]!)),
  )
}

interface Part extends Place {
  readonly key: string
}

/** The places below, wanted ones first, in their order; null where the place is compared as a whole. */
function partsOf(place: Place): Part[] | null {
  const { field, last, live, wanted } = place
  const { shape } = field
  switch (shape.is) {
    case 'leaf':
    case 'reference':
    case 'list':
      return null
    case 'union': {
      const variants = new Set(
        [last, live, wanted].flatMap(value => (value === undefined ? [] : [shape.variant(value)])),
      )
      const [only, ...more] = variants
      return only && more.length === 0 ? partsOf({ ...place, field: only }) : null
    }
    case 'object':
    case 'map': {
      if (!isFields(live) || !(isFields(wanted) || (shape.is === 'map' && isLeftToOthers(place)))) return null
      const before = isFields(last) ? last : undefined
      const then = isFields(wanted) ? wanted : undefined
      return keysOf(then, live, before).map(key =>
        partAt(place, key, shape.field(key), [fieldIn(before, key), live[key], fieldIn(then, key)]),
      )
    }
    case 'keyed list': {
      const [before, now, then] = [last, live, wanted].map(value => membersOf(value, shape.key))
      if (!now || !(then || (before && wanted === undefined && [...now.keys()].some(key => !before.has(key)))))
        return null
      const keys = new Set([...(then?.keys() ?? []), ...now.keys(), ...(before?.keys() ?? [])])
      return [...keys].map(key => partAt(place, key, shape.item(), [before?.get(key), now.get(key), then?.get(key)]))
    }
  }
}

/** Taken out of the bundle, but others have put more into it. An object is there or not: half of one may be none. */
const isLeftToOthers = ({ last, live, wanted }: Place): boolean => wanted === undefined && holdsMore(live, last)

function holdsMore(live: Json | undefined, last: Json | undefined): boolean {
  if (!isFields(live) || !isFields(last)) return false
  return Object.keys(live).some(key => !Object.hasOwn(last, key) || holdsMore(live[key], last[key]))
}

function partAt(
  { path, immutable }: Place,
  key: string,
  field: Field,
  [last, live, wanted]: readonly (Json | undefined)[],
): Part {
  return { key, field, path: fieldPath(path, key), immutable: immutable || field.immutable, last, live, wanted }
}

function keysOf(...values: readonly (Json | undefined)[]): string[] {
  const keys = new Set<string>()
  for (const value of values) if (isFields(value)) for (const key of Object.keys(value)) keys.add(key)
  return [...keys]
}

/** By their key; null when it is no list, or two members have the same key. */
function membersOf(list: Json | undefined, key: string): Map<string, Json> | null {
  if (!Array.isArray(list)) return null
  const members = new Map<string, Json>()
  for (const item of list as readonly Json[]) {
    const name = isFields(item) ? fieldIn(item, key) : undefined
    if (name === undefined || members.has(String(name))) return null
    members.set(String(name), item)
  }
  return members
}

function changeAt({ path, immutable, last, live, wanted }: Place, hasLast: boolean): Change {
  const why = whyOf(hasLast, last, live, wanted)
  return {
    path,
    ...(live !== undefined && { old: live as Change['old'] }),
    ...(wanted !== undefined && { new: wanted as Change['new'] }),
    ...(why === 'both' && last !== undefined && { last: last as Change['last'] }),
    why,
    ...(immutable && { forcesReplacement: true }),
  }
}

function whyOf(
  hasLast: boolean,
  last: Json | undefined,
  live: Json | undefined,
  wanted: Json | undefined,
): Change['why'] {
  if (!hasLast) return 'bundle'
  if (isEqual(last, wanted)) return 'drift'
  if (!isEqual(last, live)) return 'both'
  return wanted === undefined ? 'default' : 'bundle'
}
