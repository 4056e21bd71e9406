// std: sorting, and sets: arrays in order without duplicates, told apart by key.
import { compare, equals } from '../operators.ts'
import type { Lazy, Value } from '../value.ts'
import type { Call, Natives } from './define.ts'

export const sets: Natives = {
  'sort(arr, keyF=)': call => sorted(call).map(({ item }) => item),
  'uniq(arr, keyF=)': call => withoutRepeats(call, keyed(call, 0, 1)).map(({ item }) => item),
  'set(arr, keyF=)': call => withoutRepeats(call, sorted(call)).map(({ item }) => item),
  'setMember(x, arr, keyF=)': call => {
    const key = call.keyOf(2)(call.lazy(0))
    return binarySearch(call, keyed(call, 1, 2), key)
  },
  'setUnion(a, b, keyF=)': call => merge(call, { left: true, both: true, right: true }),
  'setInter(a, b, keyF=)': call => merge(call, { left: false, both: true, right: false }),
  'setDiff(a, b, keyF=)': call => merge(call, { left: true, both: false, right: false }),
}

interface Keyed {
  readonly item: Lazy
  readonly key: Value
}

/** Each key is computed once. */
function keyed(call: Call, array: number, keyF: number): Keyed[] {
  const keyOf = call.keyOf(keyF)
  const items = call.elements(array)
  call.machine.makes(items.length)
  return items.map(item => ({ item, key: keyOf(item) }))
}

function sorted(call: Call): Keyed[] {
  return keyed(call, 0, 1).sort((a, b) => {
    call.machine.makes(1)
    return compare(a.key, b.key, call.machine)
  })
}

function withoutRepeats(call: Call, items: readonly Keyed[]): Keyed[] {
  return items.filter(({ key }, index) => index === 0 || !equals(items[index - 1]!.key, key, call.machine))
}

function binarySearch(call: Call, items: readonly Keyed[], key: Value): boolean {
  let low = 0
  let high = items.length - 1
  while (low <= high) {
    const middle = (low + high) >> 1
    const order = compare(items[middle]!.key, key, call.machine)
    if (order === 0) return true
    if (order < 0) low = middle + 1
    else high = middle - 1
  }
  return false
}

/** Walks through both in step; an element of both is taken from the left. */
function merge(call: Call, keep: { left: boolean; both: boolean; right: boolean }): Lazy[] {
  const [left, right] = [keyed(call, 0, 2), keyed(call, 1, 2)]
  const result: Lazy[] = []
  let i = 0
  let j = 0
  while (i < left.length && j < right.length) {
    const [a, b] = [left[i]!, right[j]!]
    const order = compare(a.key, b.key, call.machine)
    if (order <= 0) i++
    if (order >= 0) j++
    if (order === 0 ? keep.both : order < 0 ? keep.left : keep.right) result.push(order > 0 ? b.item : a.item)
  }
  if (keep.left) for (; i < left.length; i++) result.push(left[i]!.item)
  if (keep.right) for (; j < right.length; j++) result.push(right[j]!.item)
  return result
}
