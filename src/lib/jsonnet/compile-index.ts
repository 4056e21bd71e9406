// `a[b]`, `a.b`, slices, and the two questions to super.

import { didYouMean } from '../suggest.ts'
import type { Expr, SliceExpr } from './ast.ts'
import type { Compiler } from './compile.ts'
import type { Site } from './failure.ts'
import type { Machine } from './machine.ts'
import { ObjectValue } from './object.ts'
import type { Scope } from './scope.ts'
import { slice } from './slice.ts'
import { characterAt, lengthOf } from './text.ts'
import { type Code, force, isArray, typeOf, type Value } from './value.ts'

type ExprOf<K extends Expr['kind']> = Extract<Expr, { kind: K }>

export function compileIndex(c: Compiler, { at, target, key }: ExprOf<'index'>, scope: Scope): Code {
  const [object, name] = [c.compile(target, scope), c.compile(key, scope)]
  const site = c.site(key.kind === 'literal' ? key.at : at)
  return frame => index(object(frame), name(frame), c.machine, site)
}

function index(target: Value, key: Value, machine: Machine, site: Site): Value {
  if (target instanceof ObjectValue) {
    if (typeof key !== 'string') return machine.fail(`a field is named by a string, not by ${typeOf(key)}`, site)
    const value = target.get(key, machine)
    return value === undefined ? missingField(target, key, machine, site) : value
  }
  if (!isArray(target) && typeof target !== 'string')
    return machine.fail(`${typeOf(target)} has no fields or elements`, site)
  if (typeof key !== 'number') return machine.fail(`an element is chosen by a number, not by ${typeOf(key)}`, site)
  if (!Number.isInteger(key)) return machine.fail(`an element is chosen by a whole number, not by ${key}`, site)
  const found = isArray(target) ? target[key] : characterAt(target, key)
  if (found !== undefined) return force(found, machine)
  const length = isArray(target) ? target.length : lengthOf(target)
  return machine.fail(`there is no element ${key}: the length is ${length}`, site)
}

function missingField(target: ObjectValue, name: string, machine: Machine, site: Site): never {
  const guess = didYouMean(name, target.names('with hidden'))
  return machine.fail(`the object has no field ${name}${guess ? `; ${guess}` : ''}`, site)
}

export function compileSlice(c: Compiler, { at, target, bounds }: SliceExpr, scope: Scope): Code {
  const object = c.compile(target, scope)
  const [from, to, step] = bounds.map(bound => (bound ? c.compile(bound, scope) : () => null))
  const site = c.site(at)
  return frame => slice(object(frame), [from!(frame), to!(frame), step!(frame)], c.machine, site)
}

export function compileSuper(c: Compiler, { at, key }: ExprOf<'super'>, scope: Scope): Code {
  if (!scope.inObject) c.refuse('super stands outside every object', at)
  const name = c.compile(key, scope)
  const site = c.site(at)
  return frame => {
    const field = name(frame)
    if (typeof field !== 'string') return c.machine.fail(`a field is named by a string, not by ${typeOf(field)}`, site)
    const value = frame.self!.getBelow(frame.layer, field, c.machine)
    return value === undefined ? c.machine.fail(`super has no field ${field}`, site) : value
  }
}

export function compileInSuper(c: Compiler, { at, key }: ExprOf<'in-super'>, scope: Scope): Code {
  if (!scope.inObject) c.refuse('super stands outside every object', at)
  const name = c.compile(key, scope)
  const site = c.site(at)
  return frame => {
    const field = name(frame)
    if (typeof field !== 'string') return c.machine.fail(`a field is named by a string, not by ${typeOf(field)}`, site)
    return frame.self!.hasBelow(frame.layer, field)
  }
}
