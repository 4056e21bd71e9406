// std.manifestTomlEx: plain fields first, then a table for each object and each array of objects.
import type { Machine } from '../machine.ts'
import { quoted } from '../manifest.ts'
import { numberText } from '../number.ts'
import type { ObjectValue } from '../object.ts'
import { force, isArray, isFunction, isObject, type Value } from '../value.ts'

export function tomlText(object: ObjectValue, indent: string, machine: Machine): string {
  const text = body(object, { path: [], margin: '' }, indent, machine)
  machine.makes(text.length)
  return text
}

interface Place {
  readonly path: readonly string[]
  readonly margin: string
}

function body(object: ObjectValue, { path, margin }: Place, indent: string, machine: Machine): string {
  machine.enter(null)
  const entries = object.names('visible').map(name => [name, object.get(name, machine)!] as const)
  const plain = entries
    .filter(([, value]) => !isTables(value, machine))
    .map(
      ([name, value]) => `${margin}${keyText(name)} = ${valueText(value, { margin, indent, inline: false }, machine)}`,
    )
  const tables = entries
    .filter(([, value]) => isTables(value, machine))
    .flatMap(([name, value]) => {
      const place = { path: [...path, name], margin }
      if (isArray(value))
        return value.map(item => table('[[', force(item, machine) as ObjectValue, ']]', place, indent, machine))
      return table('[', value as ObjectValue, ']', place, indent, machine)
    })
  machine.leave()
  return [plain.join('\n'), ...tables].join('\n\n')
}

function table(
  open: string,
  object: ObjectValue,
  close: string,
  place: Place,
  indent: string,
  machine: Machine,
): string {
  const { path, margin } = place
  const lines = body(object, { path, margin: margin + indent }, indent, machine)
  return `${margin}${open}${path.map(keyText).join('.')}${close}${object.names('visible').length === 0 ? '' : '\n'}${lines}`
}

function isTables(value: Value, machine: Machine): boolean {
  if (isArray(value)) return value.length > 0 && value.every(item => isObject(force(item, machine)))
  return isObject(value)
}

const keyText = (key: string) => (/^[A-Za-z0-9_-]*$/.test(key) ? key : quoted(key))

interface ValueLayout {
  readonly margin: string
  readonly indent: string
  readonly inline: boolean
}

const inlined: ValueLayout = { margin: '', indent: '', inline: true }

function valueText(value: Value, { margin, indent, inline }: ValueLayout, machine: Machine): string {
  if (typeof value === 'string') return quoted(value)
  if (typeof value === 'number') return numberText(value)
  if (typeof value === 'boolean') return String(value)
  if (value === null) return machine.fail('null cannot be written as TOML')
  if (isFunction(value)) return machine.fail('a function cannot be written as TOML')
  if (isArray(value)) {
    if (value.length === 0) return '[]'
    const items = value.map(item => valueText(force(item, machine), inlined, machine))
    if (inline) return `[ ${items.join(', ')} ]`
    return `[\n${items.map(item => margin + indent + item).join(',\n')}\n${margin}]`
  }
  const fields = value
    .names('visible')
    .map(name => `${keyText(name)} = ${valueText(value.get(name, machine)!, inlined, machine)}`)
  return `{ ${fields.join(', ')} }`
}
