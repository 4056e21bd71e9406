// Renders unit templates: text with the three helpers of the seed's Go templates, `{{- -}}` and comments. Anything else
// is a Problem with its line and column; a template gives all of its Problems at once.
import type { Problem } from '../../lib/problem.ts'
import { didYouMean } from '../../lib/suggest.ts'
import { pathEscapes, type Spot, templateSyntax, undeclaredPackage, type Where } from './problems.ts'

/** The packages that a unit declared, as its template sees them. */
export interface TemplatePackages {
  readonly declared: readonly string[]
  /** The path that the machine sees. */
  path(name: string, ...parts: string[]): string
  /** Of the declared packages that have a bin directory; sorted. */
  binPaths(): readonly string[]
}

const systemPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
const helpers = ['GetPathEnv', 'GetPathEnvWithSystemDefaults', 'GetPackagePath']

export function renderTemplate(
  text: string,
  packages: TemplatePackages,
  where: Where,
): { text: string; problems: Problem[] } {
  const problems: Problem[] = []
  let rendered = ''
  for (const part of partsOf(text)) {
    if (part.is === 'text') rendered += part.text
    else if (part.is === 'error') problems.push(templateSyntax(spotOf(text, part.at, where), part.reason, part.hint))
    else {
      const result = callHelper(part, packages, spotOf(text, part.at, where))
      if (typeof result === 'string') rendered += result
      else problems.push(result)
    }
  }
  return { text: rendered, problems }
}

type Part =
  | { readonly is: 'text'; readonly text: string }
  | { readonly is: 'call'; readonly at: number; readonly helper: string; readonly args: readonly string[] }
  | { readonly is: 'error'; readonly at: number; readonly reason: string; readonly hint?: string }

function callHelper({ helper, args }: Part & { is: 'call' }, packages: TemplatePackages, spot: Spot): string | Problem {
  switch (helper) {
    case 'GetPathEnv':
    case 'GetPathEnvWithSystemDefaults':
      if (args.length > 0) return templateSyntax(spot, `.${helper} takes no arguments`)
      return [...packages.binPaths(), ...(helper === 'GetPathEnv' ? [] : [systemPath])].join(':')
    case 'GetPackagePath': {
      const [name, ...parts] = args
      if (name === undefined) return templateSyntax(spot, '.GetPackagePath needs the name of a package')
      if (!packages.declared.includes(name)) return undeclaredPackage(spot, name, packages.declared)
      const escaping = parts.find(leavesPackage)
      return escaping === undefined ? packages.path(name, ...parts) : pathEscapes(spot, escaping)
    }
    default:
      return templateSyntax(
        spot,
        `.${helper} is not known; helpers are ${helpers.map(known => `.${known}`).join(', ')}`,
        didYouMean(helper, helpers),
      )
  }
}

const leavesPackage = (part: string) =>
  part.startsWith('/') || part.split('/').includes('..') || /[\x00-\x1f\x7f]/.test(part)

function spotOf(text: string, at: number, where: Where): Spot {
  const before = text.slice(0, at)
  return { ...where, line: before.split('\n').length, column: at - before.lastIndexOf('\n') }
}

function* partsOf(text: string): Generator<Part> {
  let at = 0
  let trimsNext = false
  for (;;) {
    const open = text.indexOf('{{', at)
    const between = text.slice(at, open === -1 ? undefined : open)
    const trimmed = trimsNext ? between.replace(/^[ \t\r\n]+/, '') : between
    if (open === -1) return yield { is: 'text', text: trimmed }
    yield { is: 'text', text: /^\{\{-[ \t\r\n]/.test(text.slice(open, open + 4)) ? trimRight(trimmed) : trimmed }
    const action = readAction(text, open)
    if (action.part) yield action.part
    at = action.end
    trimsNext = action.trimsNext
  }
}

interface Action {
  /** Null for a comment. */
  readonly part: Part | null
  readonly end: number
  readonly trimsNext: boolean
}

function readAction(text: string, open: number): Action {
  const [start] = match(/\{\{(-[ \t\r\n])?/y, text, open)!
  if (text.startsWith('/*', open + start.length)) return readComment(text, open, open + start.length)

  const words: { at: number; text: string }[] = []
  let at = open + start.length
  for (;;) {
    const [space] = match(/[ \t\r\n]*/y, text, at)!
    at += space.length
    const close = match(space ? /-?\}\}/y : /\}\}/y, text, at)
    if (close) return { part: asCall(words, open), end: at + close[0].length, trimsNext: close[0].startsWith('-') }
    if (at >= text.length) return unclosed(text, open, 'this {{ is not closed')
    const apart = space || words.length === 0
    const word = apart && match(/\.[A-Za-z_]\w*|"(?:[^"\\\n]|\\[^\n])*"|`[^`]*`/y, text, at)
    if (!word) return unexpected(text, { open, at })
    words.push({ at, text: word[0] })
    at += word[0].length
  }
}

function readComment(text: string, open: number, start: number): Action {
  const end = text.indexOf('*/', start + 2)
  if (end === -1) return unclosed(text, open, 'this comment is not closed')
  const close = match(/(?:[ \t\r\n]-)?\}\}/y, text, end + 2)
  if (close) return { part: null, end: end + 2 + close[0].length, trimsNext: close[0].length > 2 }
  return unexpected(text, { open, at: end + 2 }, 'a comment ends with */}}')
}

const unclosed = (text: string, at: number, reason: string): Action => ({
  part: { is: 'error', at, reason },
  end: text.length,
  trimsNext: false,
})

/** Goes on behind the next }}, so that later mistakes are found as well. */
function unexpected(text: string, { open, at }: { open: number; at: number }, reason?: string): Action {
  const close = text.indexOf('}}', at)
  if (close === -1) return unclosed(text, open, 'this {{ is not closed')
  const [found] = match(/[^\s}]*/y, text, at)!
  return {
    part: {
      is: 'error',
      at,
      reason: reason ?? `unexpected ${found || text[at]}; only the three helpers are known here`,
    },
    end: close + 2,
    trimsNext: false,
  }
}

function asCall(words: readonly { at: number; text: string }[], open: number): Part {
  const [helper, ...rest] = words
  if (!helper) return { is: 'error', at: open, reason: 'there is nothing between {{ and }}' }
  if (!helper.text.startsWith('.')) return { is: 'error', at: helper.at, reason: `${helper.text} is not a helper` }
  const args: string[] = []
  for (const { at, text } of rest) {
    const value = text.startsWith('.') ? null : unquote(text)
    if (value === null) {
      const reason = text.startsWith('.')
        ? `${text} cannot be an argument, only strings can`
        : `${text} has an unknown escape`
      return { is: 'error', at, reason }
    }
    args.push(value)
  }
  return { is: 'call', at: open, helper: helper.text.slice(1), args }
}

const simpleEscapes: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  '"': '"',
}

/** Go's string literals; null when an escape is not one of Go's, or stands for half a character. */
function unquote(literal: string): string | null {
  if (literal.startsWith('`')) return literal.slice(1, -1).replaceAll('\r', '')
  let valid = true
  const value = literal
    .slice(1, -1)
    .replace(
      /\\(?:([0-7]{3})|x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|(.))/gs,
      (_, octal, hex, short, long, simple) => {
        const code = octal ? Number.parseInt(octal, 8) : Number.parseInt(hex ?? short ?? long ?? '', 16)
        const character = simple ? simpleEscapes[simple] : characterOf(code, octal || hex ? 0x7f : 0x10ffff)
        valid &&= character !== undefined
        return character ?? ''
      },
    )
  return valid ? value : null
}

const characterOf = (code: number, highest: number) =>
  code <= highest && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : undefined

function match(sticky: RegExp, text: string, at: number): RegExpExecArray | null {
  sticky.lastIndex = at
  return sticky.exec(text)
}

function trimRight(text: string): string {
  let end = text.length
  while (end > 0 && ' \t\r\n'.includes(text[end - 1]!)) end--
  return text.slice(0, end)
}
