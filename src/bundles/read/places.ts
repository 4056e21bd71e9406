// Where each field of one resource stands in its text: made by reading the resource a second time, and only when a
// Problem has to name a place.
import { parentPath } from '../../lib/located-json.ts'

/** Offsets. What has no key of its own (an item of a list, the whole) has its value's twice. */
export interface Place {
  readonly key: number
  readonly value: number
}

/** By path as lib/located-json.ts spells it; '' is the whole. */
export type Places = Map<string, Place>

/** The place of a field, or of its nearest parent that is there. */
export function placeIn(places: Places, path: string): Place | undefined {
  let at = path
  for (; at && !places.has(at); at = parentPath(at));
  return places.get(at)
}
