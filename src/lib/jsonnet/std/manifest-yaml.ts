// std.manifestYamlDoc: block style, strings in double quotes, or as a literal block when they end in a new line.
import type { Machine } from '../machine.ts'
import { quoted } from '../manifest.ts'
import { numberText } from '../number.ts'
import type { ObjectValue } from '../object.ts'
import { type ArrayValue, force, isArray, isFunction, isObject, type Value } from '../value.ts'

export interface YamlLayout {
  readonly indentArrays: boolean
  readonly quoteKeys: boolean
}

export function yamlText(value: Value, layout: YamlLayout, machine: Machine, margin = ''): string {
  if (typeof value === 'string') return scalarText(value, margin)
  if (typeof value === 'number') return numberText(value)
  if (value === null || typeof value === 'boolean') return String(value)
  if (isFunction(value)) return machine.fail('a function cannot be written as YAML')
  machine.enter(null)
  const text = isArray(value) ? arrayText(value, layout, machine, margin) : objectText(value, layout, machine, margin)
  machine.leave()
  machine.makes(text.length)
  return text
}

function scalarText(text: string, margin: string): string {
  if (!text.endsWith('\n')) return quoted(text)
  return ['|', ...text.slice(0, -1).split('\n')].join(`\n${margin}  `)
}

function arrayText(array: ArrayValue, layout: YamlLayout, machine: Machine, margin: string): string {
  if (array.length === 0) return '[]'
  const inner = `${margin}  `
  return array
    .map(item => force(item, machine))
    .map(item => {
      if (isArray(item) && item.length > 0) return `-\n${inner}${yamlText(item, layout, machine, inner)}`
      return `- ${yamlText(item, layout, machine, isFull(item) ? inner : margin)}`
    })
    .join(`\n${margin}`)
}

function objectText(object: ObjectValue, layout: YamlLayout, machine: Machine, margin: string): string {
  object.check()
  const names = object.names('visible')
  if (names.length === 0) return '{}'
  return names
    .map(name => {
      const key = !layout.quoteKeys && isBare(name) ? name : quoted(name)
      const value = object.get(name, machine)!
      const inner = isArray(value) && !layout.indentArrays ? margin : `${margin}  `
      if (isFull(value)) return `${key}:\n${inner}${yamlText(value, layout, machine, inner)}`
      return `${key}: ${yamlText(value, layout, machine, margin)}`
    })
    .join(`\n${margin}`)
}

/** Takes lines of its own. */
function isFull(value: Value): boolean {
  return isArray(value) ? value.length > 0 : isObject(value) && value.names('visible').length > 0
}

const reserved = /^(true|false|yes|no|on|off|y|n|null|\.nan|[-+]?\.inf|-|---|)$/i

/** Whether a key means itself without quotes: not a word, number or date of YAML, and nothing that looks much like one. */
function isBare(key: string): boolean {
  const count = (character: string) => key.toLowerCase().split(character).length - 1
  if (!/^[\w/.-]*$/.test(key) || reserved.test(key)) return false
  if (/^[\d-]+$/.test(key) && count('-') === 2) return false
  if (/^[\d_-]+$/.test(key) && count('-') < 2) return false
  if (/^-?0b[\db_-]+$/.test(key)) return false
  if (/^[\de._-]+$/i.test(key) && count('.') === 1 && count('-') < 3 && count('e') < 2) return false
  return !(/^-?0x[\da-fx_-]+$/i.test(key) && count('-') < 2)
}
