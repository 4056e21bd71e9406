// How functions of the standard library are written: a table from `name(parameter, optional=)` to what they do.
import { apply } from '../call.ts'
import type { Machine } from '../machine.ts'
import type { ObjectValue } from '../object.ts'
import { lengthOf } from '../text.ts'
import {
  type ArrayValue,
  type FunctionValue,
  force,
  isArray,
  isFunction,
  isObject,
  type Lazy,
  NativeFunction,
  type TypeName,
  typeOf,
  type Value,
} from '../value.ts'

export type Natives = Readonly<Record<string, (call: Call) => Value>>

/** The arguments of one call, by position, checked as they are asked for. */
export class Call {
  readonly machine: Machine
  readonly #native: NativeFunction
  readonly #args: readonly (Lazy | undefined)[]

  constructor(machine: Machine, native: NativeFunction, args: readonly (Lazy | undefined)[]) {
    this.machine = machine
    this.#native = native
    this.#args = args
  }

  has(index: number): boolean {
    return this.#args[index] !== undefined
  }

  lazy(index: number): Lazy {
    return this.#args[index]!
  }

  value(index: number): Value {
    return force(this.#args[index]!, this.machine)
  }

  string(index: number): string {
    const value = this.value(index)
    return typeof value === 'string' ? value : this.unfit(index, 'string', value)
  }

  number(index: number): number {
    const value = this.value(index)
    return typeof value === 'number' ? value : this.unfit(index, 'number', value)
  }

  whole(index: number): number {
    const value = this.number(index)
    return Number.isInteger(value) ? value : this.fail(`${this.#name(index)} must be a whole number, and is ${value}`)
  }

  boolean(index: number, fallback?: boolean): boolean {
    if (fallback !== undefined && !this.has(index)) return fallback
    const value = this.value(index)
    return typeof value === 'boolean' ? value : this.unfit(index, 'boolean', value)
  }

  array(index: number): ArrayValue {
    const value = this.value(index)
    return isArray(value) ? value : this.unfit(index, 'array', value)
  }

  /** A string is its characters, where an array or a string will do. */
  elements(index: number): ArrayValue {
    const value = this.value(index)
    if (typeof value === 'string') return Array.from(value)
    return isArray(value) ? value : this.unfit(index, 'array or string', value)
  }

  object(index: number): ObjectValue {
    const value = this.value(index)
    return isObject(value) ? value : this.unfit(index, 'object', value)
  }

  function(index: number): FunctionValue {
    const value = this.value(index)
    return value !== null && isFunction(value) ? value : this.unfit(index, 'function', value)
  }

  /** The optional function that takes the key out of an element. */
  keyOf(index: number): (item: Lazy) => Value {
    if (!this.has(index)) return item => force(item, this.machine)
    const key = this.function(index)
    return item => apply(this.machine, key, item)
  }

  apply(callee: FunctionValue, ...args: Lazy[]): Value {
    return apply(this.machine, callee, ...args)
  }

  force(lazy: Lazy): Value {
    return force(lazy, this.machine)
  }

  fail(reason: string): never {
    return this.machine.fail(`std.${this.#native.name}: ${reason}`)
  }

  unfit(index: number, wanted: TypeName | 'array or string', value: Value): never {
    return this.fail(`${this.#name(index)} must be ${wanted}, and is ${typeOf(value)}`)
  }

  #name(index: number): string {
    return this.#native.parameters[index]?.name ?? ''
  }
}

export function define(natives: Natives): [string, NativeFunction][] {
  return Object.entries(natives).map(([signature, compute]) => {
    const [, name = '', list = ''] = /^(\w+)\((.*)\)$/.exec(signature) ?? []
    const parameters = list
      .split(', ')
      .filter(Boolean)
      .map(text => ({ name: text.replace('=', ''), fallback: null, required: !text.endsWith('=') }))
    const native: NativeFunction = new NativeFunction(name, parameters, (machine, args) =>
      compute(new Call(machine, native, args)),
    )
    return [name, native]
  })
}

export function sizeOf(value: Value): number | null {
  if (typeof value === 'string') return lengthOf(value)
  if (isArray(value)) return value.length
  if (value === null || typeof value !== 'object') return null
  return isFunction(value) ? value.parameters.length : value.names('visible').length
}
