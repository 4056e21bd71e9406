// Cuts a text into tokens. Strings are decoded here; comments and blanks vanish.
import { failAt, type SourceFile } from './failure.ts'
import { readQuoted, readTextBlock, readVerbatim } from './strings.ts'

export type Token =
  | { readonly kind: 'identifier' | 'keyword' | 'operator' | 'symbol'; readonly at: number; readonly text: string }
  | { readonly kind: 'string'; readonly at: number; readonly value: string; readonly block: boolean }
  | { readonly kind: 'number'; readonly at: number; readonly value: number }
  | { readonly kind: 'end'; readonly at: number }

const keywords = new Set(
  'assert else error false for function if import importstr importbin in local null tailstrict then self super true'.split(
    ' ',
  ),
)
const symbols = '{}[](),.;$'
const operatorCharacters = '!:~+-&|^=<>*/%'
const blanks = /[ \t\r\n]*/y
const identifiers = /[A-Za-z_][A-Za-z0-9_]*/y
const numbers = /(?:0|[1-9](?:_?\d)*)(?:\.\d(?:_?\d)*)?(?:[eE][+-]?\d(?:_?\d)*)?/y

export function tokensOf(file: SourceFile): Token[] {
  const { text } = file
  const tokens: Token[] = []
  for (let at = skipBlank(file, 0); at < text.length; ) {
    const { token, end } = tokenAt(file, at)
    tokens.push(token)
    at = skipBlank(file, end)
  }
  tokens.push({ kind: 'end', at: text.length })
  return tokens
}

interface Read {
  readonly token: Token
  readonly end: number
}

function tokenAt(file: SourceFile, at: number): Read {
  const { text } = file
  const character = text[at]!
  if (symbols.includes(character)) return { token: { kind: 'symbol', at, text: character }, end: at + 1 }
  if (character >= '0' && character <= '9') return numberAt(file, at)
  const word = match(identifiers, text, at)
  if (word)
    return { token: { kind: keywords.has(word) ? 'keyword' : 'identifier', at, text: word }, end: at + word.length }
  if (character === '"' || character === "'") return string(at, readQuoted(file, at))
  if (character === '@') return string(at, readVerbatim(file, at))
  if (text.startsWith('|||', at)) return string(at, readTextBlock(file, at), true)
  if (operatorCharacters.includes(character)) return operatorAt(text, at)
  return failAt('jsonnet.syntax', `the character ${JSON.stringify(character)} has no place here`, { file, offset: at })
}

const string = (at: number, { value, end }: { value: string; end: number }, block = false): Read => ({
  token: { kind: 'string', at, value, block },
  end,
})

function numberAt(file: SourceFile, at: number): Read {
  const digits = match(numbers, file.text, at) ?? ''
  const end = at + digits.length
  if (/[\w.]/.test(file.text[end] ?? '') && !/^\.[A-Za-z_]/.test(file.text.slice(end)))
    failAt('jsonnet.syntax', `not a number: ${digits}${file.text[end]}`, { file, offset: at })
  const value = Number(digits.replaceAll('_', ''))
  if (!Number.isFinite(value)) failAt('jsonnet.syntax', `the number ${digits} is too large`, { file, offset: at })
  return { token: { kind: 'number', at, value }, end }
}

/** The longest run of operator characters, short of a comment or text block in it and of a sign that belongs to what follows. */
function operatorAt(text: string, at: number): Read {
  let end = at
  while (operatorCharacters.includes(text[end] ?? ' ')) {
    if (end > at && (text.startsWith('//', end) || text.startsWith('/*', end) || text.startsWith('|||', end))) break
    end++
  }
  while (end > at + 1 && '+-~!'.includes(text[end - 1]!)) end--
  return { token: { kind: 'operator', at, text: text.slice(at, end) }, end }
}

function skipBlank(file: SourceFile, from: number): number {
  const { text } = file
  for (let at = from; ; ) {
    at += match(blanks, text, at)?.length ?? 0
    if (text[at] === '#' || text.startsWith('//', at)) {
      const end = text.indexOf('\n', at)
      at = end === -1 ? text.length : end
    } else if (text.startsWith('/*', at)) {
      const end = text.indexOf('*/', at + 2)
      if (end === -1) failAt('jsonnet.syntax', 'this comment has no end', { file, offset: at })
      at = end + 2
    } else return at
  }
}

function match(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0]
}
