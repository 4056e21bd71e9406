// std: strings. Positions and lengths count code points.
import { quoted, toText } from '../manifest.ts'
import { characterOf, charactersOf, lengthOf, sliceOf } from '../text.ts'
import { isArray, typeOf, type Value } from '../value.ts'
import type { Call, Natives } from './define.ts'

export const strings: Natives = {
  'codepoint(str)': call => {
    const text = call.string(0)
    if (lengthOf(text) !== 1) return call.fail(`str must be one character, and is ${lengthOf(text)}`)
    return text.codePointAt(0)!
  },
  'char(n)': call => characterOf(call.number(0)) ?? call.fail(`there is no code point ${call.number(0)}`),
  'substr(str, from, len)': call => {
    const [text, from, length] = [call.string(0), call.whole(1), call.whole(2)]
    if (length < 0) return call.fail(`len must not be negative, and is ${length}`)
    if (from < 0) return call.fail(`from must not be negative, and is ${from}`)
    return sliceOf(text, from, from + length)
  },
  'findSubstr(pat, str)': call => positions(call, call.string(0), call.string(1)),
  'startsWith(a, b)': call => call.string(0).startsWith(call.string(1)),
  'endsWith(a, b)': call => call.string(0).endsWith(call.string(1)),
  'stripChars(str, chars)': call => strip(call.string(0), call.string(1), 'both'),
  'lstripChars(str, chars)': call => strip(call.string(0), call.string(1), 'left'),
  'rstripChars(str, chars)': call => strip(call.string(0), call.string(1), 'right'),
  'trim(str)': call => strip(call.string(0), ' \t\n\f\r\u0085\u00a0', 'both'),
  'split(str, c)': call => split(call, call.string(0), separator(call), -1),
  'splitLimit(str, c, maxsplits)': call => split(call, call.string(0), separator(call), call.whole(2)),
  'splitLimitR(str, c, maxsplits)': call => {
    const [text, c, limit] = [call.string(0), separator(call), call.whole(2)]
    const parts = split(call, text, c, -1)
    if (limit < 0 || parts.length <= limit + 1) return parts
    const rest = parts.length - limit
    return [parts.slice(0, rest).join(c), ...parts.slice(rest)]
  },
  'strReplace(str, from, to)': call => {
    const [text, from, to] = [call.string(0), call.string(1), call.string(2)]
    if (from === '') return call.fail('from must not be empty')
    const parts = text.split(from)
    call.machine.makes(text.length + parts.length * to.length)
    return parts.join(to)
  },
  'isEmpty(str)': call => call.string(0) === '',
  'asciiUpper(str)': call => call.string(0).replace(/[a-z]+/g, letters => letters.toUpperCase()),
  'asciiLower(str)': call => asciiLower(call.string(0)),
  'equalsIgnoreCase(str1, str2)': call => asciiLower(call.string(0)) === asciiLower(call.string(1)),
  'stringChars(str)': call => {
    call.machine.makes(call.string(0).length)
    return charactersOf(call.string(0))
  },
  'lines(arr)': call => {
    const parts = call.array(0).map(item => call.force(item))
    return parts
      .filter(part => part !== null)
      .map(part =>
        typeof part === 'string' ? `${part}\n` : call.fail(`arr must hold strings, and has ${typeOf(part)}`),
      )
      .join('')
  },
  'deepJoin(arr)': call => deepJoin(call, call.value(0)),
  'escapeStringJson(str_)': call => quoted(toText(call.value(0), call.machine)),
  'escapeStringPython(str)': call => quoted(toText(call.value(0), call.machine)),
  'escapeStringBash(str_)': call => `'${toText(call.value(0), call.machine).replaceAll("'", `'"'"'`)}'`,
  'escapeStringDollars(str_)': call => toText(call.value(0), call.machine).replaceAll('$', '$$$$'),
  'escapeStringXML(str_)': escapeXml,
  'escapeStringXml(str_)': escapeXml,
  'parseInt(str)': call => {
    const text = call.string(0)
    const digits = text.startsWith('-') ? text.slice(1) : text
    return parseDigits(call, digits, 10) * (text.startsWith('-') ? -1 : 1)
  },
  'parseOctal(str)': call => parseDigits(call, call.string(0), 8),
  'parseHex(str)': call => parseDigits(call, call.string(0), 16),
  'resolvePath(f, r)': call => [...call.string(0).split('/').slice(0, -1), call.string(1)].join('/'),
}

const asciiLower = (text: string) => text.replace(/[A-Z]+/g, letters => letters.toLowerCase())

/** Also where two overlap. */
function positions(call: Call, pattern: string, text: string): number[] {
  if (pattern === '') return []
  const found: number[] = []
  for (let at = text.indexOf(pattern); at !== -1; at = text.indexOf(pattern, at + 1)) found.push(at)
  call.machine.makes(found.length)
  const wide = lengthOf(text) !== text.length
  return wide ? found.map(at => lengthOf(text.slice(0, at))) : found
}

function strip(text: string, characters: string, side: 'left' | 'right' | 'both'): string {
  const stripped = new Set(charactersOf(characters))
  const points = charactersOf(text)
  let from = 0
  let to = points.length
  if (side !== 'right') while (from < to && stripped.has(points[from]!)) from++
  if (side !== 'left') while (to > from && stripped.has(points[to - 1]!)) to--
  return points.slice(from, to).join('')
}

function separator(call: Call): string {
  return call.string(1) || call.fail('c must not be empty')
}

function split(call: Call, text: string, c: string, limit: number): string[] {
  const parts = text.split(c)
  call.machine.makes(parts.length)
  if (limit < 0 || parts.length <= limit + 1) return parts
  return [...parts.slice(0, limit), parts.slice(limit).join(c)]
}

function deepJoin(call: Call, value: Value): string {
  if (typeof value === 'string') return value
  if (!isArray(value)) return call.fail(`arr must be strings and arrays of them, and has ${typeOf(value)}`)
  return value.map(item => deepJoin(call, call.force(item))).join('')
}

const xmlEscapes: Readonly<Record<string, string>> = {
  '<': '&lt;',
  '>': '&gt;',
  '&': '&amp;',
  '"': '&quot;',
  "'": '&apos;',
}

function escapeXml(call: Call): string {
  return toText(call.value(0), call.machine).replace(/[<>&"']/g, character => xmlEscapes[character]!)
}

const digitsOf = { 8: /^[0-7]+$/, 10: /^[0-9]+$/, 16: /^[0-9a-fA-F]+$/ }

function parseDigits(call: Call, digits: string, base: keyof typeof digitsOf): number {
  if (!digitsOf[base].test(digits)) return call.fail(`${quoted(call.string(0))} is not a number of base ${base}`)
  return [...digits].reduce((sum, digit) => sum * base + Number.parseInt(digit, base), 0)
}
