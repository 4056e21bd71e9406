// Reads the YAML that people mostly write (block mappings and lists, one-line scalars and flow collections, comments) some
// thirty times faster than a whole YAML parser, and hands everything else back unread.
// Holds: what it reads, yaml-data.ts reads the same, places too, without a Problem (plain-yaml.property.test.ts).
import { fieldPath } from '../../lib/located-json.ts'
import type { Places } from './places.ts'
import { notPlain, plainScalar } from './plain-scalar.ts'

export interface PlainPart {
  readonly start: number
  readonly end: number
  /** Filled when given. */
  readonly places?: Places | undefined
}

/** A reader of parts of one text, from front to back; answers `notPlain` for what it hands back. */
export function plainYamlReader(text: string, mostDepth: number): (part: PlainPart) => unknown {
  let end = 0
  let places: Places | undefined
  /** Of the line that is read: its first column that is no space; -1 behind the last line. */
  let indent = 0
  /** The next character to look at. */
  let at = 0
  let lineStart = 0
  let lineEnd = 0
  let depth = 0
  /** The first character from `at` on that this reader does not know what to do with. */
  let oddAt = -1

  return part => {
    if (oddAt < part.start) oddAt = oddFrom(text, part.start)
    if (oddAt < part.end) return notPlain
    end = part.end
    places = part.places
    depth = 0
    lineEnd = part.start - 1
    try {
      nextLine()
      // Content on the line of the marker follows rules of its own.
      if (part.start > 0 && text.charCodeAt(part.start - 1) !== newLine && lineStart === part.start) return notPlain
      places?.set('', { key: at, value: at })
      const value = block('')
      return indent === -1 ? value : notPlain
    } catch (error) {
      if (error === notPlain) return notPlain
      throw error
    }
  }

  /** To the next line with content. */
  function nextLine(): void {
    for (;;) {
      lineStart = lineEnd + 1
      if (lineStart >= end) {
        indent = -1
        return
      }
      const feed = text.indexOf('\n', lineStart)
      lineEnd = feed === -1 || feed > end ? end : feed
      at = lineStart
      while (at < lineEnd && text.charCodeAt(at) === space) at++
      const char = at < lineEnd ? text.charCodeAt(at) : hash
      if (char === hash || char === carriageReturn) continue
      indent = at - lineStart
      return
    }
  }

  function block(path: string): unknown {
    return isDash() ? list(path) : mapping(path)
  }

  function mapping(path: string): Record<string, unknown> {
    const column = indent
    const map: Record<string, unknown> = {}
    enter()
    do {
      const keyAt = at
      const key = blockKey()
      if (key === undefined || key === '__proto__' || Object.hasOwn(map, key)) throw notPlain
      const inside = places ? fieldPath(path, key) : ''
      if (atLineEnd()) {
        nextLine()
        const isNested = indent > column || (indent === column && isDash())
        places?.set(inside, { key: keyAt, value: isNested ? at : keyAt })
        map[key] = isNested ? block(inside) : null
      } else {
        places?.set(inside, { key: keyAt, value: at })
        map[key] = inline(inside)
      }
      // Deeper: a value that goes on, or a mistake.
      if (indent > column) throw notPlain
    } while (indent === column && !isDash())
    depth--
    return map
  }

  function list(path: string): unknown[] {
    const column = indent
    const items: unknown[] = []
    enter()
    do {
      at++
      const inside = places ? fieldPath(path, items.length) : ''
      if (atLineEnd()) {
        nextLine()
        if (indent <= column) throw notPlain
        places?.set(inside, { key: at, value: at })
        items.push(block(inside))
      } else {
        places?.set(inside, { key: at, value: at })
        items.push(item(inside))
      }
      if (indent > column) throw notPlain
    } while (indent === column && isDash())
    depth--
    return items
  }

  /** Behind a dash: a mapping or list that begins on its line, or a value. */
  function item(path: string): unknown {
    const start = at
    const isBlock = isDash() || blockKey() !== undefined
    at = start
    if (!isBlock) return inline(path)
    indent = at - lineStart
    return block(path)
  }

  /** Undefined when the line goes on otherwise; then `at` means nothing. */
  function blockKey(): string | undefined {
    const key = anyKey()
    if (key === undefined || text.charCodeAt(at) !== colon) return undefined
    at++
    return at === lineEnd || text.charCodeAt(at) === space || text.charCodeAt(at) === carriageReturn ? key : undefined
  }

  function anyKey(): string | undefined {
    const first = text.charCodeAt(at)
    if (first === doubleQuote || first === singleQuote) return quoted(first)
    plainKey.lastIndex = at
    if (!plainKey.test(text)) return undefined
    const key = text.slice(at, plainKey.lastIndex)
    at = plainKey.lastIndex
    return key
  }

  /** A value that ends on this line, and the line with it. */
  function inline(path: string): unknown {
    const value = isFlowOrQuote(text.charCodeAt(at)) ? flow(path) : plain()
    if (!atLineEnd()) throw notPlain
    nextLine()
    return value
  }

  function plain(): unknown {
    const start = at
    plainStart.lastIndex = at
    if (!plainStart.test(text)) throw notPlain
    let last = at
    for (; at < lineEnd; at++) {
      const char = text.charCodeAt(at)
      if (char === space) continue
      if (char === carriageReturn) break
      if (char === hash && text.charCodeAt(at - 1) === space) break
      if (char === colon && isBlank(at + 1)) throw notPlain
      last = at
    }
    at = last + 1
    return plainScalar(text.slice(start, at))
  }

  function flow(path: string): unknown {
    const first = text.charCodeAt(at)
    if (first === doubleQuote || first === singleQuote) return quoted(first)
    if (first === openBracket) return flowList(path)
    if (first === openBrace) return flowMapping(path)
    flowScalar.lastIndex = at
    if (!flowScalar.test(text)) throw notPlain
    const value = text.slice(at, flowScalar.lastIndex)
    at = flowScalar.lastIndex
    return plainScalar(value)
  }

  function flowList(path: string): unknown[] {
    const items: unknown[] = []
    enter()
    at++
    skipSpaces()
    if (text.charCodeAt(at) !== closeBracket)
      for (;;) {
        const inside = places ? fieldPath(path, items.length) : ''
        places?.set(inside, { key: at, value: at })
        items.push(flow(inside))
        skipSpaces()
        if (text.charCodeAt(at) !== comma) break
        at++
        skipSpaces()
      }
    close(closeBracket)
    return items
  }

  function flowMapping(path: string): Record<string, unknown> {
    const map: Record<string, unknown> = {}
    enter()
    at++
    skipSpaces()
    if (text.charCodeAt(at) !== closeBrace)
      for (;;) {
        const keyAt = at
        const key = anyKey()
        if (key === undefined || key === '__proto__' || Object.hasOwn(map, key)) throw notPlain
        if (text.charCodeAt(at) !== colon || text.charCodeAt(at + 1) !== space) throw notPlain
        at++
        skipSpaces()
        const inside = places ? fieldPath(path, key) : ''
        places?.set(inside, { key: keyAt, value: at })
        map[key] = flow(inside)
        skipSpaces()
        if (text.charCodeAt(at) !== comma) break
        at++
        skipSpaces()
      }
    close(closeBrace)
    return map
  }

  function close(bracket: number): void {
    if (text.charCodeAt(at) !== bracket) throw notPlain
    at++
    depth--
  }

  function quoted(quote: number): string {
    const start = at + 1
    const mark = quote === doubleQuote ? '"' : "'"
    let close = text.indexOf(mark, start)
    let isDoubled = false
    if (quote === singleQuote)
      for (; close !== -1 && text.charCodeAt(close + 1) === quote; close = text.indexOf(mark, close + 2))
        isDoubled = true
    if (close === -1 || close >= lineEnd) throw notPlain
    at = close + 1
    const inside = text.slice(start, close)
    if (quote === doubleQuote && inside.includes('\\')) throw notPlain
    return isDoubled ? inside.replaceAll("''", "'") : inside
  }

  function enter(): void {
    depth++
    if (depth > mostDepth) throw notPlain
  }

  /** True, with `at` wherever, when nothing but spaces and a comment follow. */
  function atLineEnd(): boolean {
    const from = at
    skipSpaces()
    if (at >= lineEnd) return true
    const char = text.charCodeAt(at)
    return char === carriageReturn || (char === hash && at > from)
  }

  function skipSpaces(): void {
    while (at < lineEnd && text.charCodeAt(at) === space) at++
  }

  function isDash(): boolean {
    return text.charCodeAt(at) === dash && isBlank(at + 1)
  }

  function isBlank(offset: number): boolean {
    if (offset >= lineEnd) return true
    const char = text.charCodeAt(offset)
    return char === space || char === carriageReturn
  }
}

const newLine = 10
const carriageReturn = 13
const space = 32
const doubleQuote = 34
const hash = 35
const singleQuote = 39
const comma = 44
const dash = 45
const colon = 58
const openBracket = 91
const closeBracket = 93
const openBrace = 123
const closeBrace = 125

const isFlowOrQuote = (char: number) =>
  char === doubleQuote || char === singleQuote || char === openBracket || char === openBrace

/** Tabs, control characters, returns without a line feed, and what some take for the end of a line. */
function oddFrom(text: string, from: number): number {
  odd.lastIndex = from
  return odd.exec(text)?.index ?? text.length
}
const odd = /[\0-\x09\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\uFEFF]|\r(?!\n)/g

const plainKey = /\w[\w./-]*/y
const plainStart = /[\w/.$(<+~=^;\\\xa0-\uffff]|-[^ \r\n]/y
const flowScalar = /(?:[\w/.+]|-(?=[\w/.]))[\w/.+@=%-]*(?: +[\w/.+@=%-]+)*/y
