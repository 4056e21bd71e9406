// Object literals. Their shape is known before they run: only computed names make a table of fields anew each time.
import type { FieldExpr, ObjectLiteral } from './ast.ts'
import type { Compiler } from './compile.ts'
import type { Site } from './failure.ts'
import { type Field, type Layer, ObjectValue } from './object.ts'
import { add } from './operators.ts'
import { dollar, innerScope, type Scope } from './scope.ts'
import { type Code, Frame, typeOf } from './value.ts'

export function compileObject(c: Compiler, { locals, asserts, fields }: ObjectLiteral, scope: Scope): Code {
  const inner = objectScope(
    scope,
    locals.map(({ name }) => name),
  )
  const open = compileOpen(c, locals, inner)
  const checks = asserts.map(assertion => c.assertion(assertion, inner))
  const fixed = new Map<string, Field>()
  const computed: ((frame: Frame) => readonly [string, Field] | null)[] = []
  for (const field of fields)
    if (field.computed) computed.push(compileComputed(c, field, scope, inner))
    else if (field.name.kind === 'literal') {
      const name = String(field.name.value)
      fixed.set(name, compileField(c, field, inner)(name))
    }
  const layerOf = (frame: Frame, fields: ReadonlyMap<string, Field>): Layer => ({
    fields,
    asserts: checks,
    open: (self, layer) => open(frame, self, layer),
  })
  if (computed.length === 0) return frame => ObjectValue.of(layerOf(frame, fixed))
  return frame => {
    const all = new Map(fixed)
    for (const entry of computed) {
      const [name, field] = entry(frame) ?? []
      if (name === undefined) continue
      if (all.has(name)) c.machine.fail(`the field ${name} stands twice in this object`, field!.site)
      all.set(name, field!)
    }
    return ObjectValue.of(layerOf(frame, all))
  }
}

/** What is in scope inside an object: `$` in the outermost one, then its locals. */
export function objectScope(scope: Scope, locals: readonly string[]): Scope {
  return innerScope(scope, scope.inObject ? locals : [dollar, ...locals], true)
}

/** Makes the frame in which the fields of one layer of an object are evaluated. */
export function compileOpen(
  c: Compiler,
  locals: ObjectLiteral['locals'],
  inner: Scope,
): (frame: Frame, self: ObjectValue, layer: number) => Frame {
  const first = inner.names.has(dollar) ? 1 : 0
  const bind = c.binds(locals, inner, first)
  return (frame, self, layer) => {
    const opened = new Frame(frame, first === 1 ? [self] : [], self, layer)
    bind(opened)
    return opened
  }
}

function compileComputed(c: Compiler, field: FieldExpr, outer: Scope, inner: Scope) {
  const nameOf = compileName(c, field, outer)
  const fieldNamed = compileField(c, field, inner)
  return (frame: Frame) => {
    const name = nameOf(frame)
    return name === null ? null : ([name, fieldNamed(name)] as const)
  }
}

/** Null leaves the field out. */
export function compileName(c: Compiler, { at, name }: FieldExpr, scope: Scope): (frame: Frame) => string | null {
  const code = c.compile(name, scope)
  const site = c.site(at)
  return frame => {
    const value = code(frame)
    if (value === null || typeof value === 'string') return value
    return c.machine.fail(`a field is named by a string, not by ${typeOf(value)}`, site)
  }
}

/** What is compiled once serves every name that a computed field gets. */
export function compileField(c: Compiler, field: FieldExpr, inner: Scope): (name: string) => Field {
  const { visibility } = field
  const value = c.compile(field.value, inner)
  return name => ({
    visibility,
    body: field.extends ? extending(c, name, value, c.site(field.at)) : value,
    site: c.site(field.at, `field ${name}`),
  })
}

/** `f+: e` is `f: super.f + e`, where super has an f. */
function extending(c: Compiler, name: string, value: Code, site: Site): Code {
  return frame => {
    const below = frame.self!.getBelow(frame.layer, name, c.machine)
    return below === undefined ? value(frame) : add(below, value(frame), c.machine, site)
  }
}
