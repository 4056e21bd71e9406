// What stands between braces: fields, methods, locals and asserts, or one computed field and a comprehension.
import type { Assertion, Bind, Clause, Expr, FieldExpr, ParameterExpr, Visibility } from './ast.ts'
import type { Cursor } from './cursor.ts'

/** How it comes back to expressions. */
export interface Grammar {
  expression(cursor: Cursor): Expr
  bind(cursor: Cursor): Bind
  assertion(cursor: Cursor, at: number): Assertion
  clauses(cursor: Cursor): Clause[]
  parameters(cursor: Cursor): ParameterExpr[]
}

export function parseObject(cursor: Cursor, grammar: Grammar): Expr {
  const at = cursor.expect('{', 'to open an object')
  const locals: Bind[] = []
  const asserts: Assertion[] = []
  const fields: FieldExpr[] = []
  while (!cursor.takes('}')) {
    const { at: start } = cursor
    if (cursor.takes('local')) locals.push(grammar.bind(cursor))
    else if (cursor.takes('assert')) asserts.push(grammar.assertion(cursor, start))
    else fields.push(parseField(cursor, grammar))
    const comma = cursor.takes(',')
    if (cursor.is('for')) {
      const field = onlyField(cursor, asserts, fields)
      const clauses = grammar.clauses(cursor)
      cursor.expect('}', 'after the comprehension')
      refuseTwice(cursor, locals)
      return { kind: 'object-comprehension', at, locals, field, clauses }
    }
    if (!comma && !cursor.is('}')) cursor.expect('}', 'or , after a field')
  }
  refuseTwice(cursor, locals)
  refuseTwice(
    cursor,
    fields.flatMap(({ at, name, computed }) =>
      !computed && name.kind === 'literal' ? [{ at, name: String(name.value) }] : [],
    ),
  )
  return { kind: 'object', at, locals, asserts, fields }
}

function onlyField(cursor: Cursor, asserts: readonly Assertion[], fields: readonly FieldExpr[]): FieldExpr {
  const [field, another] = fields
  if (!field || another || asserts.length > 0) return cursor.fail('a comprehension makes exactly one field, and locals')
  if (!field.computed) return cursor.fail('the field of a comprehension has its name in brackets', field.at)
  if (field.visibility !== 'inherited') return cursor.fail('the field of a comprehension cannot be hidden', field.at)
  return field
}

function refuseTwice(cursor: Cursor, named: readonly { readonly name: string; readonly at: number }[]) {
  const seen = new Set<string>()
  for (const { name, at } of named) {
    if (seen.has(name)) cursor.fail(`${name} stands twice in this object`, at)
    seen.add(name)
  }
}

function parseField(cursor: Cursor, grammar: Grammar): FieldExpr {
  const { at } = cursor
  const { name, computed } = parseName(cursor, grammar)
  const label = name.kind === 'literal' ? String(name.value) : ''
  const parameters = cursor.takes('(') ? grammar.parameters(cursor) : null
  const { visibility, extending } = parseColons(cursor)
  if (parameters && extending) cursor.fail('a method cannot have +', at)
  const body = grammar.expression(cursor)
  const value: Expr = parameters
    ? { kind: 'function', at, name: label, parameters, body }
    : body.kind === 'function'
      ? { ...body, name: label }
      : body
  return { at, name, computed, visibility, extends: extending, value }
}

function parseName(cursor: Cursor, grammar: Grammar): { name: Expr; computed: boolean } {
  const { token, at } = cursor
  if (token.kind === 'identifier' || token.kind === 'string') {
    cursor.take()
    return { name: { kind: 'literal', at, value: token.kind === 'string' ? token.value : token.text }, computed: false }
  }
  if (!cursor.takes('[')) return cursor.fail(`expected a field, found ${cursor.found()}`)
  const name = grammar.expression(cursor)
  cursor.expect(']', 'after the name of a field')
  return { name, computed: true }
}

const visibilities: Readonly<Record<string, Visibility>> = { ':': 'inherited', '::': 'hidden', ':::': 'visible' }

function parseColons(cursor: Cursor): { visibility: Visibility; extending: boolean } {
  const { token } = cursor
  const [, plus, colons] = (token.kind === 'operator' && /^(\+?)(:{1,3})$/.exec(token.text)) || []
  const visibility = visibilities[colons ?? '']
  if (!visibility) return cursor.fail(`expected a colon after the name of a field, found ${cursor.found()}`)
  cursor.take()
  return { visibility, extending: plus === '+' }
}
