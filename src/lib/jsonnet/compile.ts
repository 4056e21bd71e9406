// Turns an expression into code: closures that know their slots, so that running it looks up no names and no kinds.
import { unreachable } from '../errors.ts'
import { didYouMean } from '../suggest.ts'
import type { Assertion, BinaryExpr, Bind, Expr, FunctionExpr, ImportExpr } from './ast.ts'
import { compileCall } from './compile-call.ts'
import { compileArrayComprehension, compileObjectComprehension } from './compile-comprehension.ts'
import { compileIndex, compileInSuper, compileSlice, compileSuper } from './compile-index.ts'
import { compileObject } from './compile-object.ts'
import { JsonnetFailure, placeOf, type Site, type SourceFile } from './failure.ts'
import type { Machine } from './machine.ts'
import { toText } from './manifest.ts'
import { binary, unary } from './operators.ts'
import { addressOf, dollar, innerScope, namesIn, type Scope } from './scope.ts'
import { Closure, type Code, type Frame, force, type Lazy, Thunk, typeOf, type Value } from './value.ts'

/** All that compiling one file needs. */
export interface Unit {
  readonly machine: Machine
  readonly file: SourceFile
  load(path: ImportExpr['path'], how: ImportExpr['how'], site: Site): Value
}

/** What the parts of the compiler share; the parts do not import one another. */
export interface Compiler extends Unit {
  /** `last` is the last place of a function's body, where a tailstrict call may replace the one under way. */
  compile(expr: Expr, scope: Scope, last?: 'last'): Code
  /** Evaluated when it is needed, or now when that costs nothing. */
  lazy(expr: Expr, scope: Scope): (frame: Frame) => Lazy
  assertion(assertion: Assertion, scope: Scope): Code
  /** Fills the slots of the frame from `first` on. */
  binds(binds: readonly Bind[], scope: Scope, first: number): (frame: Frame) => void
  site(at: number, what?: string): Site
  refuse(reason: string, at: number, hint?: string): never
}

/** The one name that every file knows. */
const fileScope = innerScope(null, ['std'])

export function compileFile(unit: Unit, expr: Expr): Code {
  const compiler: Compiler = {
    ...unit,
    compile: (expr, scope, last) => compile(compiler, expr, scope, last),
    lazy: (expr, scope) => lazy(compiler, expr, scope),
    assertion: (assertion, scope) => compileAssertion(compiler, assertion, scope),
    binds: (binds, scope, first) => compileBinds(compiler, binds, scope, first),
    site: (at, what) => ({ file: unit.file, offset: at, ...(what ? { what } : {}) }),
    refuse: (reason, at, hint) => {
      const source = placeOf({ file: unit.file, offset: at })
      throw new JsonnetFailure({ code: 'jsonnet.syntax', path: '', reason, ...(hint ? { hint } : {}), source })
    },
  }
  return compiler.compile(expr, fileScope)
}

function compile(c: Compiler, expr: Expr, scope: Scope, last?: 'last'): Code {
  switch (expr.kind) {
    case 'literal': {
      const { value } = expr
      return () => value
    }
    case 'variable':
      return compileVariable(c, expr.name, expr.at, scope)
    case 'self':
      if (!scope.inObject) c.refuse('self stands outside every object', expr.at)
      return frame => frame.self!
    case 'dollar':
      if (!scope.inObject) c.refuse('$ stands outside every object', expr.at)
      return compileVariable(c, dollar, expr.at, scope)
    case 'super':
      return compileSuper(c, expr, scope)
    case 'in-super':
      return compileInSuper(c, expr, scope)
    case 'array': {
      const items = expr.items.map(item => c.lazy(item, scope))
      return frame => items.map(item => item(frame))
    }
    case 'array-comprehension':
      return compileArrayComprehension(c, expr, scope)
    case 'object':
      return compileObject(c, expr, scope)
    case 'object-comprehension':
      return compileObjectComprehension(c, expr, scope)
    case 'index':
      return compileIndex(c, expr, scope)
    case 'slice':
      return compileSlice(c, expr, scope)
    case 'call':
      return compileCall(c, expr, scope, last)
    case 'function':
      return compileFunction(c, expr, scope)
    case 'local': {
      const inner = innerScope(
        scope,
        expr.binds.map(({ name }) => name),
      )
      const bind = c.binds(expr.binds, inner, 0)
      const body = c.compile(expr.body, inner, last)
      return frame => {
        const within = frame.inner([])
        bind(within)
        return body(within)
      }
    }
    case 'if': {
      const condition = compileCondition(c, expr.condition, scope)
      const yes = c.compile(expr.yes, scope, last)
      const no = expr.no && c.compile(expr.no, scope, last)
      return frame => (condition(frame) ? yes(frame) : no ? no(frame) : null)
    }
    case 'error': {
      const message = c.compile(expr.message, scope)
      const site = c.site(expr.at)
      return frame => c.machine.fail(toText(message(frame), c.machine), site)
    }
    case 'assert': {
      const assertion = c.assertion(expr.assertion, scope)
      const rest = c.compile(expr.rest, scope, last)
      return frame => {
        assertion(frame)
        return rest(frame)
      }
    }
    case 'import': {
      const { path, how } = expr
      const site = c.site(expr.at, `${how} ${path}`)
      return () => c.load(path, how, site)
    }
    case 'unary': {
      const { operator } = expr
      const operand = c.compile(expr.operand, scope)
      const site = c.site(expr.at)
      return frame => unary(operator, operand(frame), c.machine, site)
    }
    case 'binary':
      return compileBinary(c, expr, scope)
    default:
      return unreachable(expr)
  }
}

function lazy(c: Compiler, expr: Expr, scope: Scope): (frame: Frame) => Lazy {
  const code = c.compile(expr, scope)
  const site = c.site(expr.at)
  if (expr.kind === 'literal' || expr.kind === 'function') return code
  if (expr.kind === 'variable') {
    const slotOf = slotReader(addressOf(expr.name, scope)!)
    // Of variables that are bound together, a later one is not there yet.
    return frame => slotOf(frame) ?? new Thunk(code, frame, site)
  }
  return frame => new Thunk(code, frame, site)
}

function compileVariable(c: Compiler, name: string, at: number, scope: Scope): Code {
  const address = addressOf(name, scope)
  if (!address) return c.refuse(`there is no variable ${name}`, at, didYouMean(name, namesIn(scope)))
  const slotOf = slotReader(address)
  return frame => force(slotOf(frame)!, c.machine)
}

function slotReader({ hops, slot }: { hops: number; slot: number }): (frame: Frame) => Lazy | undefined {
  if (hops === 0) return frame => frame.slots[slot]
  if (hops === 1) return frame => frame.parent!.slots[slot]
  if (hops === 2) return frame => frame.parent!.parent!.slots[slot]
  return frame => {
    let at = frame
    for (let i = 0; i < hops; i++) at = at.parent!
    return at.slots[slot]
  }
}

function compileBinds(c: Compiler, binds: readonly Bind[], scope: Scope, first: number): (frame: Frame) => void {
  const values = binds.map(({ value }) => c.lazy(value, scope))
  return frame => {
    for (let i = 0; i < values.length; i++) frame.slots[first + i] = values[i]!(frame)
  }
}

function compileFunction(c: Compiler, { name, parameters, body }: FunctionExpr, scope: Scope): Code {
  const inner = innerScope(
    scope,
    parameters.map(({ name }) => name),
  )
  const compiled = parameters.map(({ name, fallback }) => ({
    name,
    fallback: fallback && c.compile(fallback, inner),
    required: fallback === null,
  }))
  const code = c.compile(body, inner, 'last')
  return frame => new Closure(name, compiled, frame, code)
}

function compileCondition(c: Compiler, expr: Expr, scope: Scope): (frame: Frame) => boolean {
  const code = c.compile(expr, scope)
  const site = c.site(expr.at)
  return frame => {
    const value = code(frame)
    if (typeof value === 'boolean') return value
    return c.machine.fail(`a condition must be a boolean, and this is ${typeOf(value)}`, site)
  }
}

function compileAssertion(c: Compiler, { at, condition, message }: Assertion, scope: Scope): Code {
  const holds = compileCondition(c, condition, scope)
  const text = message && c.compile(message, scope)
  const site = c.site(at)
  return frame => {
    if (holds(frame)) return null
    return c.machine.fail(text ? toText(text(frame), c.machine) : 'the assertion does not hold', site)
  }
}

function compileBinary(c: Compiler, { at, operator, left, right }: BinaryExpr, scope: Scope): Code {
  const { machine } = c
  if (operator === '&&' || operator === '||') {
    const [first, second] = [compileCondition(c, left, scope), compileCondition(c, right, scope)]
    return operator === '&&' ? frame => first(frame) && second(frame) : frame => first(frame) || second(frame)
  }
  const [first, second] = [c.compile(left, scope), c.compile(right, scope)]
  const operate = binary[operator]
  const site = c.site(at)
  return frame => operate(first(frame), second(frame), machine, site)
}
