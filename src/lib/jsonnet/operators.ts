// What the operators do with values. `&&` and `||` look at their right side only when needed, so they are in compile.ts.
import type { BinaryOperator, UnaryOperator } from './ast.ts'
import type { Site } from './failure.ts'
import { format } from './format.ts'
import type { Machine } from './machine.ts'
import { toText } from './manifest.ts'
import { ObjectValue } from './object.ts'
import { compareText } from './text.ts'
import { type ArrayValue, force, isArray, isFunction, isObject, typeOf, type Value } from './value.ts'

export type StrictOperator = Exclude<BinaryOperator, '&&' | '||'>

type Operation = (left: Value, right: Value, machine: Machine, site: Site | null) => Value

export const binary: Readonly<Record<StrictOperator, Operation>> = {
  '+': add,
  '-': arithmetic('-', (left, right) => left - right),
  '*': arithmetic('*', (left, right) => left * right),
  '/': notByZero(arithmetic('/', (left, right) => left / right)),
  '%': (left, right, machine, site) =>
    typeof left === 'string' ? format(left, right, machine) : remainder(left, right, machine, site),
  '<<': shift('<<', (left, right) => left << right),
  '>>': shift('>>', (left, right) => left >> right),
  '&': bitwise('&', (left, right) => left & right),
  '^': bitwise('^', (left, right) => left ^ right),
  '|': bitwise('|', (left, right) => left | right),
  '<': (left, right, machine, site) => compare(left, right, machine, site) < 0,
  '>': (left, right, machine, site) => compare(left, right, machine, site) > 0,
  '<=': (left, right, machine, site) => compare(left, right, machine, site) <= 0,
  '>=': (left, right, machine, site) => compare(left, right, machine, site) >= 0,
  '==': (left, right, machine) => equals(left, right, machine),
  '!=': (left, right, machine) => !equals(left, right, machine),
  in: (left, right, machine, site) => {
    if (typeof left === 'string' && isObject(right)) return right.has(left)
    return unfit('in', left, right, machine, site)
  },
}

export function unary(operator: UnaryOperator, value: Value, machine: Machine, site: Site | null): Value {
  if (operator === '!') {
    if (typeof value === 'boolean') return !value
  } else if (typeof value === 'number') {
    if (operator === '~') return Number(~wholeNumber(value, machine, site))
    return operator === '-' ? -value : value
  }
  return machine.fail(`${operator} cannot be used on ${typeOf(value)}`, site)
}

export function add(left: Value, right: Value, machine: Machine, site: Site | null = null): Value {
  if (typeof left === 'number' && typeof right === 'number') return finite(left + right, machine, site)
  if (typeof left === 'string' || typeof right === 'string') {
    const text = toText(left, machine) + toText(right, machine)
    machine.holds(text.length)
    return text
  }
  if (isArray(left) && isArray(right)) {
    machine.makes(left.length + right.length)
    return left.length === 0 ? right : right.length === 0 ? left : [...left, ...right]
  }
  if (left instanceof ObjectValue && right instanceof ObjectValue) return left.plus(right)
  return unfit('+', left, right, machine, site)
}

export function equals(left: Value, right: Value, machine: Machine): boolean {
  if (left === right && (left === null || typeof left !== 'object')) return true
  if (isArray(left) && isArray(right)) return equalArrays(left, right, machine)
  if (left instanceof ObjectValue && right instanceof ObjectValue) return equalObjects(left, right, machine)
  if (left !== null && right !== null && isFunction(left) && isFunction(right))
    return machine.fail('functions cannot be compared')
  return false
}

function equalArrays(left: ArrayValue, right: ArrayValue, machine: Machine): boolean {
  if (left.length !== right.length) return false
  machine.enter(null)
  const same = left.every((item, index) => equals(force(item, machine), force(right[index]!, machine), machine))
  machine.leave()
  return same
}

/** Hidden fields do not count. */
function equalObjects(left: ObjectValue, right: ObjectValue, machine: Machine): boolean {
  const names = left.names('visible')
  const others = right.names('visible')
  if (names.length !== others.length || names.some((name, index) => name !== others[index])) return false
  machine.enter(null)
  const same = names.every(name => equals(left.get(name, machine)!, right.get(name, machine)!, machine))
  machine.leave()
  return same
}

/** Negative, zero or positive. Numbers, strings, and arrays of them. */
export function compare(left: Value, right: Value, machine: Machine, site: Site | null = null): number {
  if (typeof left === 'number' && typeof right === 'number') return left - right
  if (typeof left === 'string' && typeof right === 'string') return compareText(left, right)
  if (isArray(left) && isArray(right)) {
    const length = Math.min(left.length, right.length)
    machine.enter(null)
    let order = 0
    for (let i = 0; i < length && order === 0; i++)
      order = compare(force(left[i]!, machine), force(right[i]!, machine), machine, site)
    machine.leave()
    return order || left.length - right.length
  }
  return unfit('comparison', left, right, machine, site)
}

export function finite(value: number, machine: Machine, site: Site | null = null): number {
  if (Number.isFinite(value)) return value
  return machine.fail(Number.isNaN(value) ? 'the result is not a number' : 'the number is too large', site)
}

const remainder = notByZero(arithmetic('%', (left, right) => left % right))

function notByZero(operation: Operation): Operation {
  return (left, right, machine, site) => {
    if (right === 0 && typeof left === 'number') return machine.fail('division by zero', site)
    return operation(left, right, machine, site)
  }
}

function arithmetic(name: string, compute: (left: number, right: number) => number): Operation {
  return (left, right, machine, site) => {
    if (typeof left === 'number' && typeof right === 'number') return finite(compute(left, right), machine, site)
    return unfit(name, left, right, machine, site)
  }
}

/** On 64 bits with a sign. */
function bitwise(name: string, compute: (left: bigint, right: bigint) => bigint): Operation {
  return (left, right, machine, site) => {
    if (typeof left !== 'number' || typeof right !== 'number') return unfit(name, left, right, machine, site)
    const result = compute(wholeNumber(left, machine, site), wholeNumber(right, machine, site))
    return Number(BigInt.asIntN(64, result))
  }
}

function shift(name: string, compute: (left: bigint, right: bigint) => bigint): Operation {
  const shifted = bitwise(name, (left, right) => compute(left, right % 64n))
  return (left, right, machine, site) => {
    if (typeof right === 'number' && right < 0) machine.fail('shift by a negative number', site)
    return shifted(left, right, machine, site)
  }
}

function wholeNumber(value: number, machine: Machine, site: Site | null): bigint {
  const whole = Math.trunc(value)
  if (!Number.isSafeInteger(whole)) machine.fail(`${value} has too many bits for an operation on bits`, site)
  return BigInt(whole)
}

function unfit(name: string, left: Value, right: Value, machine: Machine, site: Site | null): never {
  return machine.fail(`${name} does not go with ${typeOf(left)} and ${typeOf(right)}`, site)
}
