// Calls: arguments become the slots of a frame, what was left out its default, and the body runs.
import type { Site } from './failure.ts'
import type { Machine } from './machine.ts'
import { Closure, Frame, type FunctionValue, isFunction, type Lazy, Thunk, typeOf, type Value } from './value.ts'

export interface Arguments {
  readonly positional: readonly Lazy[]
  readonly named: readonly (readonly [name: string, value: Lazy])[]
}

/** What a body returns in place of a value when it ends in a call marked tailstrict: the next call takes its place. */
class TailCall {
  readonly callee: Value
  readonly args: Arguments
  readonly site: Site

  constructor(callee: Value, args: Arguments, site: Site) {
    this.callee = callee
    this.args = args
    this.site = site
  }
}

/** Only for code in the last place of a body: nobody but callFunction may see what it returns. */
export function tailCall(callee: Value, args: Arguments, site: Site): Value {
  return new TailCall(callee, args, site) as unknown as Value
}

export function callFunction(machine: Machine, callee: Value, args: Arguments, site: Site | null): Value {
  machine.enter(site)
  let result: unknown = run(machine, callee, args)
  while (result instanceof TailCall) {
    machine.leave()
    machine.enter(result.site)
    result = run(machine, result.callee, result.args)
  }
  machine.leave()
  return result as Value
}

const noNames: Arguments['named'] = []

/** For functions of the standard library that take functions. */
export function apply(machine: Machine, callee: FunctionValue, ...positional: Lazy[]): Value {
  return callFunction(machine, callee, { positional, named: noNames }, machine.site)
}

function run(machine: Machine, callee: Value, args: Arguments): Value {
  if (callee === null || !isFunction(callee)) return machine.fail(`${typeOf(callee)} cannot be called`)
  const slots = bind(machine, callee, args)
  if (!(callee instanceof Closure)) return callee.run(machine, slots)
  const frame = new Frame(callee.frame, slots, callee.frame.self, callee.frame.layer)
  for (let i = args.positional.length; i < callee.parameters.length; i++)
    if (slots[i] === undefined) slots[i] = new Thunk(callee.parameters[i]!.fallback!, frame)
  return callee.body(frame)
}

function bind(machine: Machine, { name, parameters }: FunctionValue, { positional, named }: Arguments) {
  const called = name || 'the function'
  if (positional.length > parameters.length)
    machine.fail(`${called} takes ${parameters.length} arguments, and is given ${positional.length}`)
  const slots: (Lazy | undefined)[] = positional.slice()
  for (const [given, value] of named) {
    const index = parameters.findIndex(parameter => parameter.name === given)
    if (index === -1) machine.fail(`${called} has no parameter ${given}`)
    if (slots[index] !== undefined) machine.fail(`${called} is given ${given} twice`)
    slots[index] = value
  }
  for (let i = positional.length; i < parameters.length; i++)
    if (slots[i] === undefined && parameters[i]!.required) machine.fail(`${called} is not given ${parameters[i]!.name}`)
  return slots
}
