// Makes an expression of a text. What is only another spelling (methods, `e { }`, `local f(x) =`) is written out here.
import {
  type Assertion,
  type BinaryOperator,
  type Bind,
  type CallExpr,
  type Clause,
  type Expr,
  type ParameterExpr,
  precedences,
  type SliceExpr,
  type UnaryOperator,
} from './ast.ts'
import { Cursor } from './cursor.ts'
import type { SourceFile } from './failure.ts'
import { tokensOf } from './lexer.ts'
import { parseObject } from './parse-object.ts'

export function parse(file: SourceFile): Expr {
  const cursor = new Cursor(file, tokensOf(file))
  const expression = parseExpression(cursor)
  if (cursor.token.kind !== 'end') cursor.fail(`expected the end of the file, found ${cursor.found()}`)
  return expression
}

/** How the parser of objects comes back to expressions. */
const grammar = {
  expression: parseExpression,
  bind: parseBind,
  assertion: parseAssertion,
  clauses: parseClauses,
  parameters: parseParameters,
}

function parseExpression(cursor: Cursor): Expr {
  return cursor.deeper(() => parseBinary(cursor, precedences.length - 1))
}

const levelOf = new Map<string, number>(
  precedences.flatMap((operators, level) => operators.map(text => [text, level] as const)),
)

/** Operators of `loosest` and tighter. Climbs, so that its depth is that of the text and not of the table. */
function parseBinary(cursor: Cursor, loosest: number): Expr {
  let left = parseUnary(cursor)
  for (;;) {
    const { token } = cursor
    if (token.kind !== 'operator' && !cursor.is('in')) return left
    const operator = (token as { text: string }).text
    const level = levelOf.get(operator)
    if (level === undefined) {
      if (/^(:+|=)$/.test(operator)) return left
      return cursor.fail(`there is no operator ${operator}`)
    }
    if (level > loosest) return left
    cursor.take()
    if (operator === 'in' && cursor.is('super') && !cursor.is('.', 1) && !cursor.is('[', 1)) {
      cursor.take()
      left = { kind: 'in-super', at: token.at, key: left }
    } else {
      const right = cursor.deeper(() => parseBinary(cursor, level - 1))
      left = { kind: 'binary', at: left.at, operator: operator as BinaryOperator, left, right }
    }
  }
}

function parseUnary(cursor: Cursor): Expr {
  const { token } = cursor
  if (token.kind === 'operator') {
    if (!'+-!~'.includes(token.text)) return cursor.fail(`expected an expression, found ${cursor.found()}`)
    cursor.take()
    const operand = cursor.deeper(() => parseUnary(cursor))
    return { kind: 'unary', at: token.at, operator: token.text as UnaryOperator, operand }
  }
  return parseSuffixes(cursor, parsePrimary(cursor))
}

function parseSuffixes(cursor: Cursor, first: Expr): Expr {
  let target = first
  for (;;) {
    const { at } = cursor
    if (cursor.takes('.')) {
      const name = cursor.identifier('after the dot')
      target = { kind: 'index', at: target.at, target, key: { kind: 'literal', at, value: name } }
    } else if (cursor.takes('[')) target = parseIndex(cursor, target)
    else if (cursor.takes('(')) target = parseCall(cursor, target)
    else if (cursor.is('{'))
      target = { kind: 'binary', at: target.at, operator: '+', left: target, right: parseObject(cursor, grammar) }
    else return target
  }
}

/** Behind the bracket: an index, or a slice as soon as there is a colon. `::` is one token. */
function parseIndex(cursor: Cursor, target: Expr): Expr {
  const bounds: [Expr | null, Expr | null, Expr | null] = [null, null, null]
  let colons = 0
  for (;;) {
    if (cursor.takes(']')) break
    if (cursor.takes(':')) colons++
    else if (cursor.takes('::')) colons += 2
    else if (bounds[colons] === null) bounds[colons] = parseExpression(cursor)
    else cursor.expect(']', 'after an index')
    if (colons > 2) cursor.fail('a slice has at most two colons')
  }
  if (colons > 0) return { kind: 'slice', at: target.at, target, bounds } satisfies SliceExpr
  if (bounds[0] === null) return cursor.fail('expected an index in the brackets')
  return { kind: 'index', at: target.at, target, key: bounds[0] }
}

function parseCall(cursor: Cursor, callee: Expr): CallExpr {
  const positional: Expr[] = []
  const named: { name: string; value: Expr }[] = []
  while (!cursor.takes(')')) {
    const { token } = cursor
    if (token.kind === 'identifier' && cursor.is('=', 1)) {
      cursor.take()
      cursor.take()
      if (named.some(({ name }) => name === token.text)) cursor.fail(`${token.text} is given twice`, token.at)
      named.push({ name: token.text, value: parseExpression(cursor) })
    } else {
      if (named.length > 0) cursor.fail('an argument without a name cannot follow one with a name')
      positional.push(parseExpression(cursor))
    }
    if (!cursor.takes(',') && !cursor.is(')')) cursor.expect(')', 'after the arguments')
  }
  return { kind: 'call', at: callee.at, callee, positional, named, tailstrict: cursor.takes('tailstrict') }
}

function parsePrimary(cursor: Cursor): Expr {
  const token = cursor.take()
  const { at } = token
  switch (token.kind) {
    case 'string':
    case 'number':
      return { kind: 'literal', at, value: token.value }
    case 'identifier':
      return { kind: 'variable', at, name: token.text }
    case 'end':
    case 'operator':
      break
    default:
      switch (token.text) {
        case 'null':
          return { kind: 'literal', at, value: null }
        case 'true':
        case 'false':
          return { kind: 'literal', at, value: token.text === 'true' }
        case 'self':
          return { kind: 'self', at }
        case '$':
          return { kind: 'dollar', at }
        case 'super':
          return parseSuper(cursor, at)
        case '(': {
          const inside = parseExpression(cursor)
          cursor.expect(')', 'to close the parenthesis')
          return inside
        }
        case '[':
          return parseArray(cursor, at)
        case '{':
          cursor.back()
          return parseObject(cursor, grammar)
        case 'local': {
          const binds = parseBinds(cursor)
          cursor.expect(';', 'after local')
          return { kind: 'local', at, binds, body: parseExpression(cursor) }
        }
        case 'if':
          return parseIf(cursor, at)
        case 'function': {
          cursor.expect('(', 'after function')
          const parameters = parseParameters(cursor)
          return { kind: 'function', at, name: '', parameters, body: parseExpression(cursor) }
        }
        case 'error':
          return { kind: 'error', at, message: parseExpression(cursor) }
        case 'assert': {
          const assertion = parseAssertion(cursor, at)
          cursor.expect(';', 'after assert')
          return { kind: 'assert', at, assertion, rest: parseExpression(cursor) }
        }
        case 'import':
        case 'importstr':
        case 'importbin':
          return parseImport(cursor, at, token.text)
      }
  }
  cursor.back()
  return cursor.fail(`expected an expression, found ${cursor.found()}`)
}

function parseSuper(cursor: Cursor, at: number): Expr {
  if (cursor.takes('.'))
    return { kind: 'super', at, key: { kind: 'literal', at: cursor.at, value: cursor.identifier('after the dot') } }
  cursor.expect('[', 'or . after super')
  const key = parseExpression(cursor)
  cursor.expect(']', 'after an index')
  return { kind: 'super', at, key }
}

function parseArray(cursor: Cursor, at: number): Expr {
  const items: Expr[] = []
  while (!cursor.takes(']')) {
    items.push(parseExpression(cursor))
    const comma = cursor.takes(',')
    if (cursor.is('for')) {
      if (items.length > 1) cursor.fail('a comprehension has one expression before for')
      const clauses = parseClauses(cursor)
      cursor.expect(']', 'after the comprehension')
      return { kind: 'array-comprehension', at, body: items[0]!, clauses }
    }
    if (!comma && !cursor.is(']')) cursor.expect(']', 'or , after an element')
  }
  return { kind: 'array', at, items }
}

function parseIf(cursor: Cursor, at: number): Expr {
  const condition = parseExpression(cursor)
  cursor.expect('then', 'after the condition')
  const yes = parseExpression(cursor)
  return { kind: 'if', at, condition, yes, no: cursor.takes('else') ? parseExpression(cursor) : null }
}

function parseImport(cursor: Cursor, at: number, how: 'import' | 'importstr' | 'importbin'): Expr {
  const path = parseExpression(cursor)
  if (path.kind !== 'literal' || typeof path.value !== 'string')
    return cursor.fail(
      `${how} takes a plain string: which file it is must be known before anything is computed`,
      path.at,
    )
  return { kind: 'import', at, how, path: path.value }
}

/** Up to whatever follows the last one. */
function parseBinds(cursor: Cursor): Bind[] {
  const binds: Bind[] = []
  do {
    const bind = parseBind(cursor)
    if (binds.some(({ name }) => name === bind.name)) cursor.fail(`${bind.name} is bound twice`, bind.at)
    binds.push(bind)
  } while (cursor.takes(','))
  return binds
}

function parseBind(cursor: Cursor): Bind {
  const { at } = cursor
  const name = cursor.identifier('after local')
  const parameters = cursor.takes('(') ? parseParameters(cursor) : null
  cursor.expect('=', `after ${name}`)
  const body = parseExpression(cursor)
  return { name, at, value: parameters ? { kind: 'function', at, name, parameters, body } : named(body, name) }
}

/** A function is called by the name it is bound to in traces. */
const named = (value: Expr, name: string): Expr => (value.kind === 'function' ? { ...value, name } : value)

/** Behind the opening parenthesis, and with the closing one. */
function parseParameters(cursor: Cursor): ParameterExpr[] {
  const parameters: ParameterExpr[] = []
  while (!cursor.takes(')')) {
    const { at } = cursor
    const name = cursor.identifier('of a parameter')
    if (parameters.some(parameter => parameter.name === name)) cursor.fail(`${name} is a parameter twice`, at)
    parameters.push({ name, fallback: cursor.takes('=') ? parseExpression(cursor) : null })
    if (!cursor.takes(',') && !cursor.is(')')) cursor.expect(')', 'or , after a parameter')
  }
  return parameters
}

function parseAssertion(cursor: Cursor, at: number): Assertion {
  const condition = parseExpression(cursor)
  return { at, condition, message: cursor.takes(':') ? parseExpression(cursor) : null }
}

/** From `for` up to what closes the comprehension. */
function parseClauses(cursor: Cursor): Clause[] {
  const clauses: Clause[] = []
  for (;;) {
    const { at } = cursor
    if (cursor.takes('for')) {
      const name = cursor.identifier('after for')
      cursor.expect('in', `after for ${name}`)
      clauses.push({ kind: 'for', at, name, items: parseExpression(cursor) })
    } else if (cursor.takes('if')) clauses.push({ kind: 'if', at, condition: parseExpression(cursor) })
    else return clauses
  }
}
