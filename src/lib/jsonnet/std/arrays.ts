// std: arrays. Elements stay unevaluated wherever the result does not depend on them.
import { add, compare, equals, finite } from '../operators.ts'
import { slice } from '../slice.ts'
import { type ArrayValue, isArray, type Lazy, Thunk, typeOf, type Value } from '../value.ts'
import { type Call, type Natives, sizeOf } from './define.ts'

export const arrays: Natives = {
  'makeArray(sz, func)': call => {
    const [size, make] = [call.whole(0), call.function(1)]
    if (size < 0) return call.fail(`sz must not be negative, and is ${size}`)
    call.machine.makes(size)
    return Array.from({ length: size }, (_, index) => new Thunk(() => call.apply(make, index), null))
  },
  'range(from, to)': call => {
    const [from, to] = [call.whole(0), call.whole(1)]
    const size = Math.max(0, to - from + 1)
    call.machine.makes(size)
    return Array.from({ length: size }, (_, index) => from + index)
  },
  'repeat(what, count)': call => {
    const [what, count] = [call.value(0), call.whole(1)]
    if (count < 0) return call.fail(`count must not be negative, and is ${count}`)
    if (typeof what !== 'string' && !isArray(what)) return call.unfit(0, 'array or string', what)
    call.machine.makes(what.length * count)
    return isArray(what) ? Array.from({ length: count }, () => what).flat() : what.repeat(count)
  },
  'slice(indexable, index, end, step)': call =>
    slice(call.value(0), [call.value(1), call.value(2), call.value(3)], call.machine),
  'member(arr, x)': call => {
    const within = call.value(0)
    if (typeof within === 'string') return call.string(1) !== '' && within.includes(call.string(1))
    return call.array(0).some(item => same(call, item, call.value(1)))
  },
  'contains(arr, elem)': call => call.array(0).some(item => same(call, item, call.value(1))),
  'count(arr, x)': call => call.elements(0).filter(item => same(call, item, call.value(1))).length,
  'find(value, arr)': call => indexesOf(call, call.array(1), call.value(0)),
  'map(func, arr)': call => {
    const change = call.function(0)
    return mapped(call, call.elements(1), item => call.apply(change, item))
  },
  'mapWithIndex(func, arr)': call => {
    const change = call.function(0)
    return mapped(call, call.elements(1), (item, index) => call.apply(change, index, item))
  },
  'filter(func, arr)': call => filtered(call, 0, call.elements(1)),
  'filterMap(filter_func, map_func, arr)': call => {
    const change = call.function(1)
    return mapped(call, filtered(call, 0, call.array(2)), item => call.apply(change, item))
  },
  'flatMap(func, arr)': call => {
    const change = call.function(0)
    const parts = call.elements(1).map(item => call.apply(change, item))
    return joined(call, typeof call.value(1) === 'string' ? '' : [], parts, 'func must give')
  },
  'foldl(func, arr, init)': call => {
    const combine = call.function(0)
    let running = call.lazy(2)
    for (const item of call.elements(1)) running = call.apply(combine, running, item)
    return call.force(running)
  },
  'foldr(func, arr, init)': call => {
    const combine = call.function(0)
    let running = call.lazy(2)
    for (const item of call.elements(1).toReversed()) running = call.apply(combine, item, running)
    return call.force(running)
  },
  'join(sep, arr)': call => {
    const parts = call.array(1).map(item => call.force(item))
    return joined(call, call.value(0), parts, 'arr must hold')
  },
  'flattenArrays(arrs)': call => {
    const parts = call.array(0).map(item => call.force(item))
    return joined(call, [], parts, 'arrs must hold')
  },
  'flattenDeepArray(value)': call => {
    const flat: Lazy[] = []
    const walk = (value: Value) => {
      if (!isArray(value)) flat.push(value)
      else for (const item of value) walk(call.force(item))
    }
    walk(call.value(0))
    call.machine.makes(flat.length)
    return flat
  },
  'reverse(arr)': call => call.elements(0).toReversed(),
  'all(arr)': call => call.array(0).every(item => truth(call, item)),
  'any(arr)': call => call.array(0).some(item => truth(call, item)),
  'sum(arr)': call => sum(call),
  'avg(arr)': call => {
    if (call.array(0).length === 0) return call.fail('arr is empty')
    return sum(call) / call.array(0).length
  },
  'minArray(arr, keyF=, onEmpty=)': call => extreme(call, -1),
  'maxArray(arr, keyF=, onEmpty=)': call => extreme(call, 1),
  'removeAt(arr, at)': call => {
    const at = call.number(1)
    return call.array(0).filter((_, index) => index !== at)
  },
  'remove(arr, elem)': call => {
    const [first] = indexesOf(call, call.array(0), call.value(1))
    return call.array(0).filter((_, index) => index !== first)
  },
}

const same = (call: Call, item: Lazy, value: Value) => equals(call.force(item), value, call.machine)

function indexesOf(call: Call, array: ArrayValue, value: Value): number[] {
  return array.flatMap((item, index) => (same(call, item, value) ? [index] : []))
}

function mapped(call: Call, items: ArrayValue, change: (item: Lazy, index: number) => Value): ArrayValue {
  call.machine.makes(items.length)
  return items.map((item, index) => new Thunk(() => change(item, index), null))
}

function filtered(call: Call, index: number, items: ArrayValue): ArrayValue {
  const test = call.function(index)
  return items.filter(item => {
    const kept = call.apply(test, item)
    return typeof kept === 'boolean' ? kept : call.fail(`the filter must give a boolean, and gave ${typeOf(kept)}`)
  })
}

/** Parts that are null are left out; the others must be what the separator is. */
function joined(call: Call, separator: Value, parts: readonly Value[], must: string): Value {
  if (typeof separator !== 'string' && !isArray(separator)) return call.unfit(0, 'array or string', separator)
  const kept = parts.filter(part => part !== null)
  const other = kept.find(part => typeOf(part) !== typeOf(separator))
  if (other !== undefined) return call.fail(`${must} ${typeOf(separator)}s, and there is ${typeOf(other)}`)
  const length = kept.reduce<number>(
    (total, part) => total + (part as string | ArrayValue).length + separator.length,
    0,
  )
  call.machine.makes(length)
  if (typeof separator === 'string') return kept.join(separator)
  return (kept as ArrayValue[]).flatMap((part, index) => (index === 0 ? part : [...separator, ...part]))
}

function truth(call: Call, item: Lazy): boolean {
  const value = call.force(item)
  return typeof value === 'boolean' ? value : call.fail(`arr must hold booleans, and has ${typeOf(value)}`)
}

function sum(call: Call): number {
  const total = call.array(0).reduce<Value>((running, item) => add(running, call.force(item), call.machine), 0)
  return typeof total === 'number' ? finite(total, call.machine) : call.fail('arr must hold numbers')
}

/** The first of those with the smallest (-1) or largest (1) key. */
function extreme(call: Call, direction: -1 | 1): Value {
  const items = call.elements(0)
  if (sizeOf(call.value(0)) === 0) return call.has(2) ? call.value(2) : call.fail('arr is empty')
  const keyOf = call.keyOf(1)
  let [best] = items as [Lazy]
  let bestKey = keyOf(best)
  for (const item of items.slice(1)) {
    const key = keyOf(item)
    if (compare(key, bestKey, call.machine) * direction > 0) [best, bestKey] = [item, key]
  }
  return call.force(best)
}
