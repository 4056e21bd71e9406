// `[e for x in a if c]` and `{ [k]: v for x in a }`: every turn of a loop has a frame of its own.
import type { ArrayComprehension, Clause, ObjectComprehension } from './ast.ts'
import type { Compiler } from './compile.ts'
import { compileField, compileName, compileOpen, objectScope } from './compile-object.ts'
import { type Field, ObjectValue } from './object.ts'
import { innerScope, type Scope } from './scope.ts'
import { type Code, Frame, isArray, type Lazy, typeOf } from './value.ts'

/** Calls `each` for every turn, in order. */
type Turns = (frame: Frame, each: (frame: Frame) => void) => void

export function compileArrayComprehension(c: Compiler, { body, clauses }: ArrayComprehension, scope: Scope): Code {
  const { turns, inner } = compileClauses(c, clauses, scope)
  const item = c.lazy(body, inner)
  return frame => {
    const items: Lazy[] = []
    turns(frame, within => {
      c.machine.makes(1)
      c.machine.holds(items.push(item(within)))
    })
    return items
  }
}

/** The locals can use the variables of the loop, so each field has a scope of its own inside the object. */
export function compileObjectComprehension(c: Compiler, expr: ObjectComprehension, scope: Scope): Code {
  const { locals, field, clauses } = expr
  const { turns, inner } = compileClauses(c, clauses, scope)
  const nameOf = compileName(c, field, inner)
  const within = objectScope(
    inner,
    locals.map(({ name }) => name),
  )
  const open = compileOpen(c, locals, within)
  const fieldNamed = compileField(c, field, within)
  return frame => {
    const fields = new Map<string, Field>()
    turns(frame, turn => {
      const name = nameOf(turn)
      if (name === null) return
      const made = fieldNamed(name)
      if (fields.has(name)) c.machine.fail(`the field ${name} is made twice`, made.site)
      fields.set(name, { ...made, body: ({ self, layer }) => made.body(open(turn, self!, layer)) })
      c.machine.makes(1)
    })
    return ObjectValue.of({ fields, asserts: [], open: (self, layer) => new Frame(frame, [], self, layer) })
  }
}

function compileClauses(c: Compiler, clauses: readonly Clause[], scope: Scope): { turns: Turns; inner: Scope } {
  let inner = scope
  let turns: Turns = (frame, each) => each(frame)
  for (const clause of clauses) {
    const before = turns
    const next = clause.kind === 'for' ? compileFor(c, clause, inner) : compileIf(c, clause, inner)
    turns = (frame, each) => before(frame, within => next(within, each))
    if (clause.kind === 'for') inner = innerScope(inner, [clause.name])
  }
  return { turns, inner }
}

function compileFor(c: Compiler, { items }: Extract<Clause, { kind: 'for' }>, scope: Scope): Turns {
  const code = c.compile(items, scope)
  const site = c.site(items.at)
  return (frame, each) => {
    const array = code(frame)
    if (!isArray(array)) return c.machine.fail(`a loop goes over an array, and this is ${typeOf(array)}`, site)
    for (const item of array) each(frame.inner([item]))
  }
}

function compileIf(c: Compiler, { condition }: Extract<Clause, { kind: 'if' }>, scope: Scope): Turns {
  const code = c.compile(condition, scope)
  const site = c.site(condition.at)
  return (frame, each) => {
    const value = code(frame)
    if (typeof value !== 'boolean')
      return c.machine.fail(`a condition must be a boolean, and this is ${typeOf(value)}`, site)
    c.machine.makes(1)
    if (value) each(frame)
  }
}
