// The three ways to write a string: with escapes, verbatim (@'...'), and as a block of lines (|||).
import { failAt, type SourceFile } from './failure.ts'

interface ReadString {
  readonly value: string
  readonly end: number
}

const escapes: Readonly<Record<string, string>> = {
  '"': '"',
  "'": "'",
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
}

export function readQuoted(file: SourceFile, at: number): ReadString {
  const { text } = file
  const quote = text[at]
  let value = ''
  for (let i = at + 1; i < text.length; i++) {
    const character = text[i]!
    if (character === quote) return { value, end: i + 1 }
    if (character !== '\\') {
      value += character
      continue
    }
    const letter = text[++i] ?? ''
    if (letter === 'u') {
      const digits = text.slice(i + 1, i + 5)
      if (!/^[\da-fA-F]{4}$/.test(digits))
        failAt('jsonnet.syntax', '\\u needs four hexadecimal digits', { file, offset: i - 1 })
      value += String.fromCharCode(Number.parseInt(digits, 16))
      i += 4
    } else if (escapes[letter] !== undefined) value += escapes[letter]
    else failAt('jsonnet.syntax', `there is no escape \\${letter}`, { file, offset: i - 1 })
  }
  return unended(file, at)
}

/** A quote in it is written twice; nothing else is special. */
export function readVerbatim(file: SourceFile, at: number): ReadString {
  const { text } = file
  const quote = text[at + 1]
  if (quote !== '"' && quote !== "'") failAt('jsonnet.syntax', 'a quote must follow @', { file, offset: at })
  let value = ''
  for (let from = at + 2; ; ) {
    const end = text.indexOf(quote!, from)
    if (end === -1) return unended(file, at)
    value += text.slice(from, end)
    if (text[end + 1] !== quote) return { value, end: end + 1 }
    value += quote
    from = end + 2
  }
}

/** The blanks of the first line are taken from every line; a line with fewer ends the block and must be `|||`. */
export function readTextBlock(file: SourceFile, at: number): ReadString {
  const { text } = file
  const chomps = text[at + 3] === '-'
  const head = /[ \t]*\r?\n/y
  head.lastIndex = at + (chomps ? 4 : 3)
  if (!head.test(text)) failAt('jsonnet.syntax', 'a new line must follow |||', { file, offset: at })
  let from = head.lastIndex
  let value = ''
  let margin: string | null = null
  for (;;) {
    const lineEnd = text.indexOf('\n', from)
    if (lineEnd === -1) return endOfBlock(file, at, from, margin, value, chomps)
    const line = text.slice(from, lineEnd + 1)
    if (line === '\n' || line === '\r\n') value += '\n'
    else {
      margin ??= /^[ \t]*/.exec(line)![0]
      if (margin === '')
        failAt('jsonnet.syntax', 'the first line of a ||| block must be indented', { file, offset: from })
      if (!line.startsWith(margin)) return endOfBlock(file, at, from, margin, value, chomps)
      value += line.slice(margin.length)
    }
    from = lineEnd + 1
  }
}

function endOfBlock(
  file: SourceFile,
  at: number,
  from: number,
  margin: string | null,
  value: string,
  chomps: boolean,
): ReadString {
  const end = /[ \t]*\|\|\|/y
  end.lastIndex = from
  if (margin === null || !end.test(file.text))
    failAt('jsonnet.syntax', 'this ||| block has no end', { file, offset: at })
  return { value: chomps ? value.replace(/\n$/, '') : value, end: end.lastIndex }
}

function unended(file: SourceFile, at: number): never {
  return failAt('jsonnet.syntax', 'this string has no end', { file, offset: at })
}
