// Parts of arrays and strings: `a[from:to:step]` and std.slice. A negative bound counts from the end, null is not given.
import type { Site } from './failure.ts'
import type { Machine } from './machine.ts'
import { charactersOf, lengthOf, sliceOf } from './text.ts'
import { isArray, typeOf, type Value } from './value.ts'

export function slice(
  target: Value,
  [from, to, step]: readonly [Value, Value, Value],
  machine: Machine,
  site: Site | null = null,
): Value {
  if (!isArray(target) && typeof target !== 'string') return machine.fail(`${typeOf(target)} cannot be sliced`, site)
  const length = isArray(target) ? target.length : lengthOf(target)
  const bound = (value: Value, fallback: number) => {
    if (value === null) return fallback
    if (typeof value !== 'number' || !Number.isInteger(value))
      return machine.fail(`a slice is bounded by whole numbers, not by ${typeOf(value)}`, site)
    return value
  }
  const every = bound(step, 1)
  if (every <= 0) return machine.fail(`the step of a slice must be greater than 0, and is ${every}`, site)
  const start = fromEnd(bound(from, 0), length)
  const end = Math.min(fromEnd(bound(to, length), length), length)
  machine.makes(Math.max(0, end - start))
  if (every === 1) return isArray(target) ? target.slice(start, end) : sliceOf(target, start, Math.max(start, end))
  const chosen = (_: unknown, index: number) => index >= start && index < end && (index - start) % every === 0
  return isArray(target) ? target.filter(chosen) : charactersOf(target).filter(chosen).join('')
}

const fromEnd = (bound: number, length: number) => (bound < 0 ? Math.max(0, length + bound) : bound)
