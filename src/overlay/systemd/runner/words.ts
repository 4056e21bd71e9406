// Splits a unit file's value into words, as systemd.syntax(7) says: blanks separate, quotes of both kinds keep blanks and
// are removed, C escapes are understood.
import { Cannot } from './cannot.ts'

export interface Word {
  readonly text: string
  /** As it stood there, quotes and escapes included: tells a lone `;` from a quoted one. */
  readonly raw: string
}

export function splitWords(value: string): Word[] {
  const words: Word[] = []
  let word: { text: string; from: number } | null = null
  let quote = ''
  let at = 0
  const end = () => {
    if (word) words.push({ text: word.text, raw: value.slice(word.from, at) })
    word = null
  }
  while (at < value.length) {
    const char = value[at]!
    if (!quote && /\s/.test(char)) {
      end()
      at++
      continue
    }
    word ??= { text: '', from: at }
    if (char === '\\') {
      const escaped = readEscape(value.slice(at))
      word.text += escaped.text
      at += escaped.length
      continue
    }
    at++
    if (char === quote) quote = ''
    else if (!quote && (char === '"' || char === "'")) quote = char
    else word.text += char
  }
  if (quote) throw new Cannot(`read "${value}": a quote is not closed`)
  end()
  return words
}

const simpleEscapes: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  s: ' ',
  ';': ';',
  '\\': '\\',
  '"': '"',
  "'": "'",
}

const codeEscape = /^\\(?:x([\da-f]{2})|u([\da-f]{4})|U([\da-f]{8})|([0-3][0-7]{2}))/i

function readEscape(text: string): { text: string; length: number } {
  const simple = simpleEscapes[text[1] ?? '']
  if (simple !== undefined) return { text: simple, length: 2 }
  const [found, hex2, hex4, hex8, octal] = codeEscape.exec(text) ?? []
  const code = octal ? Number.parseInt(octal, 8) : Number.parseInt(hex2 ?? hex4 ?? hex8 ?? '', 16)
  if (!found || code === 0 || code > 0x10ffff) throw new Cannot(`read the escape ${text.slice(0, 2)}`)
  return { text: String.fromCodePoint(code), length: found.length }
}
