// Takes a format apart: `%(key)-08.3lf` and the text between such codes.
import type { Machine } from './machine.ts'

export interface FormatCode {
  readonly key: string | null
  readonly flags: {
    readonly alternate: boolean
    readonly zero: boolean
    readonly left: boolean
    readonly blank: boolean
    readonly plus: boolean
  }
  /** `*`: taken from the values. */
  readonly width: number | '*' | null
  readonly precision: number | '*' | null
  readonly type: string
  readonly capital: boolean
}

const codes = /%(?:\(([^)]*)\))?([#0\- +]*)(\*|\d*)(?:\.(\*|\d*))?[hlL]?([diuoxXeEfFgGcs%])/y

export function parseFormat(pattern: string, machine: Machine): (string | FormatCode)[] {
  const parts: (string | FormatCode)[] = []
  for (let at = 0; at < pattern.length; ) {
    const percent = pattern.indexOf('%', at)
    const end = percent === -1 ? pattern.length : percent
    if (end > at) parts.push(pattern.slice(at, end))
    if (percent === -1) break
    codes.lastIndex = percent
    const match = codes.exec(pattern)
    if (!match) return machine.fail(`the format has no meaning from here on: ${pattern.slice(percent, percent + 20)}`)
    parts.push(codeOf(match))
    at = codes.lastIndex
  }
  return parts
}

function codeOf([, key, flags = '', width, precision, letter = '']: RegExpExecArray): FormatCode {
  return {
    key: key ?? null,
    flags: {
      alternate: flags.includes('#'),
      zero: flags.includes('0'),
      left: flags.includes('-'),
      blank: flags.includes(' '),
      plus: flags.includes('+'),
    },
    width: widthOf(width),
    precision: precision === '' ? 0 : widthOf(precision),
    type: 'iu'.includes(letter) ? 'd' : letter.toLowerCase(),
    capital: 'XEFG'.includes(letter),
  }
}

const widthOf = (text: string | undefined) => (text === '*' ? '*' : text ? Number(text) : null)
