// What expressions become. An array is a JavaScript array whose elements may not be evaluated yet; an object is in object.ts.
import type { Site } from './failure.ts'
import type { Machine } from './machine.ts'
import type { ObjectValue } from './object.ts'

export type Value = null | boolean | number | string | ArrayValue | ObjectValue | FunctionValue

export type ArrayValue = readonly Lazy[]

/** A value, or the promise to compute it once when it is needed. */
export type Lazy = Value | Thunk

/** An expression, ready to run in a frame of the shape it was compiled for. */
export type Code = (frame: Frame) => Value

/** The variables of one scope, and the object that `self` and `super` mean there. */
export class Frame {
  readonly parent: Frame | null
  readonly slots: (Lazy | undefined)[]
  readonly self: ObjectValue | null
  /** Fields of `super` are looked for below this layer of `self`. */
  readonly layer: number

  constructor(parent: Frame | null, slots: (Lazy | undefined)[], self: ObjectValue | null, layer: number) {
    this.parent = parent
    this.slots = slots
    this.self = self
    this.layer = layer
  }

  /** A scope inside this one. */
  inner(slots: (Lazy | undefined)[]): Frame {
    return new Frame(this, slots, this.self, this.layer)
  }
}

export class Thunk {
  #code: Code | null
  #frame: Frame | null
  #value: Value = null
  readonly #site: Site | null

  /** Native code has no frame; what it calls is counted, it itself is not. */
  constructor(code: Code, frame: Frame | null, site: Site | null = null) {
    this.#code = code
    this.#frame = frame
    this.#site = site
  }

  force(machine: Machine): Value {
    if (this.#code === null) return this.#value
    if (this.#frame) {
      machine.enter(this.#site)
      this.#value = this.#code(this.#frame)
      machine.leave()
    } else this.#value = this.#code(noFrame)
    this.#code = null
    this.#frame = null
    return this.#value
  }
}

/** For native code, which looks at none. */
export const noFrame = undefined as unknown as Frame

export function force(lazy: Lazy, machine: Machine): Value {
  return lazy instanceof Thunk ? lazy.force(machine) : lazy
}

export interface Parameter {
  readonly name: string
  /** Runs in the frame of the call. `required` without one is a mistake of the caller. */
  readonly fallback: Code | null
  readonly required: boolean
}

/** A function of the program; the frame of a call has its parameters, in order, as slots. */
export class Closure {
  readonly name: string
  readonly parameters: readonly Parameter[]
  readonly frame: Frame
  readonly body: Code

  constructor(name: string, parameters: readonly Parameter[], frame: Frame, body: Code) {
    this.name = name
    this.parameters = parameters
    this.frame = frame
    this.body = body
  }
}

/** A function of the standard library. An argument that was left out is undefined. */
export class NativeFunction {
  readonly name: string
  readonly parameters: readonly Parameter[]
  readonly run: (machine: Machine, args: readonly (Lazy | undefined)[]) => Value

  constructor(name: string, parameters: readonly Parameter[], run: NativeFunction['run']) {
    this.name = name
    this.parameters = parameters
    this.run = run
  }
}

export type FunctionValue = Closure | NativeFunction

export type TypeName = 'null' | 'boolean' | 'number' | 'string' | 'array' | 'object' | 'function'

export function typeOf(value: Value): TypeName {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (isFunction(value)) return 'function'
  return typeof value as 'boolean' | 'number' | 'string' | 'object'
}

export const isArray = (value: Value): value is ArrayValue => Array.isArray(value)

export const isFunction = (value: Value): value is FunctionValue =>
  value instanceof Closure || value instanceof NativeFunction

export function isObject(value: Value): value is ObjectValue {
  return typeOf(value) === 'object'
}
