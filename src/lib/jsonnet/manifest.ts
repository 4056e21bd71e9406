// Values that are done: as JSON data for the result, and as JSON text for programs.
import type { Json } from '../json.ts'
import type { Machine } from './machine.ts'
import { numberText } from './number.ts'
import type { ObjectValue } from './object.ts'
import { type ArrayValue, force, isArray, isFunction, type Value } from './value.ts'

/** Counts against the limit of the output. */
export function manifestJson(value: Value, machine: Machine): Json {
  if (typeof value === 'string') machine.writes(Buffer.byteLength(value) + 2)
  else machine.writes(4)
  if (value === null || typeof value !== 'object') return value
  if (isFunction(value)) return machine.fail('a function cannot be part of the result')
  machine.enter(null)
  const json = isArray(value) ? value.map(item => manifestJson(force(item, machine), machine)) : fields(value, machine)
  machine.leave()
  return json
}

function fields(object: ObjectValue, machine: Machine): Json {
  object.check()
  const json: Record<string, Json> = {}
  for (const name of object.names('visible')) {
    machine.writes(Buffer.byteLength(name) + 4)
    const field = manifestJson(object.get(name, machine)!, machine)
    // Assigned, it would become the prototype.
    if (name === '__proto__')
      Object.defineProperty(json, name, { value: field, enumerable: true, writable: true, configurable: true })
    else json[name] = field
  }
  return json
}

export interface JsonLayout {
  readonly indent: string
  readonly newline: string
  readonly colon: string
  /** Between elements, before the newline. */
  readonly comma: string
  /** What stands for an empty array or object; null when it is laid out like the others. */
  readonly empty: readonly [string, string] | null
}

const oneLine: JsonLayout = { indent: '', newline: '', colon: ': ', comma: ', ', empty: ['[ ]', '{ }'] }

/** What `+` makes of a value beside a string. */
export function toText(value: Value, machine: Machine): string {
  return typeof value === 'string' ? value : jsonText(value, oneLine, machine)
}

export function jsonText(value: Value, layout: JsonLayout, machine: Machine, margin = ''): string {
  if (typeof value === 'string') return quoted(value)
  if (typeof value === 'number') return numberText(value)
  if (value === null || typeof value === 'boolean') return String(value)
  if (isFunction(value)) return machine.fail('a function cannot be written as JSON')
  machine.enter(null)
  const text = isArray(value) ? arrayText(value, layout, machine, margin) : objectText(value, layout, machine, margin)
  machine.leave()
  machine.makes(text.length)
  return text
}

function arrayText(array: ArrayValue, layout: JsonLayout, machine: Machine, margin: string): string {
  if (array.length === 0 && layout.empty) return layout.empty[0]
  const inner = margin + layout.indent
  const items = array.map(item => inner + jsonText(force(item, machine), layout, machine, inner))
  return between('[', items, ']', layout, margin)
}

function objectText(object: ObjectValue, layout: JsonLayout, machine: Machine, margin: string): string {
  object.check()
  const names = object.names('visible')
  if (names.length === 0 && layout.empty) return layout.empty[1]
  const inner = margin + layout.indent
  const items = names.map(name => {
    const text = jsonText(object.get(name, machine)!, layout, machine, inner)
    return inner + quoted(name) + layout.colon + text
  })
  return between('{', items, '}', layout, margin)
}

function between(open: string, items: readonly string[], close: string, layout: JsonLayout, margin: string): string {
  const { newline, comma } = layout
  return open + newline + items.join(comma + newline) + newline + margin + close
}

const unprintable = /["\\\u0000-\u001f\u007f-\u009f]/g
const short: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
}

/** As JSON, and the controls above ASCII escaped too. */
export function quoted(text: string): string {
  return `"${text.replace(unprintable, character => short[character] ?? `\\u${hex4(character)}`)}"`
}

const hex4 = (character: string) => character.charCodeAt(0).toString(16).padStart(4, '0')
