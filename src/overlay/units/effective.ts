// The effective unit: what systemd makes of a base and its drop-ins. Values are kept as written, in order, under their
// key; order of keys and sections carries no meaning.
import { byName, type UnitName } from '../names.ts'
import { parseUnit } from './parse.ts'
import type { UnitBase, UnitParts, UnitText } from './tree.ts'
import { typeOf } from './unit-name.ts'

export interface EffectiveUnit {
  readonly name: UnitName
  readonly base: UnitBase
  readonly texts: readonly UnitText[]
  /** Section -> key -> values. A first '' says that what came before from elsewhere was cleared. */
  readonly sections: ReadonlyMap<string, ReadonlyMap<string, readonly string[]>>
}

/** What is wrong with the texts was said when they were prepared; here the rest counts, as it does for systemd. */
export function mergeTexts({ name, base, texts }: Pick<UnitParts, 'name' | 'base' | 'texts'>): EffectiveUnit {
  const sections = new Map<string, Map<string, string[]>>()
  for (const { path, text } of texts)
    for (const { name: section, entries } of parseUnit(text, { path }).unit.sections) {
      const keys = sections.get(section) ?? new Map<string, string[]>()
      sections.set(section, keys)
      for (const [key, value] of entries) {
        const before = keys.get(key)
        if (value === '' || !before) keys.set(key, [value])
        else before.push(value)
      }
    }
  if (base === 'here')
    for (const keys of sections.values())
      for (const values of keys.values()) if (values.length > 1 && values[0] === '') values.shift()
  return { name, base, texts, sections }
}

/** The texts of one declared unit, drop-ins by their file names. */
export function textsInOrder(name: UnitName, text: string, dropIns: Readonly<Record<string, string>>): UnitText[] {
  const files = Object.keys(dropIns).sort(byName)
  return [{ path: name, text }, ...files.map(file => ({ path: `${name}.d/${file}`, text: dropIns[file]! }))]
}

/** All values of a key, without the mark of clearing. */
export function valuesOf(unit: EffectiveUnit, section: string, key: string): readonly string[] {
  return (
    unit.sections
      .get(section)
      ?.get(key)
      ?.filter(value => value !== '') ?? []
  )
}

export function lastValue(unit: EffectiveUnit, section: string, key: string): string | undefined {
  return valuesOf(unit, section, key).at(-1)
}

/** For keys that are lists of names. */
export function wordsOf(unit: EffectiveUnit, section: string, key: string): string[] {
  return valuesOf(unit, section, key).flatMap(value => value.split(/[ \t]+/))
}

/** As systemd reads a boolean; undefined when unset or not one. */
export function booleanOf(text: string | undefined): boolean | undefined {
  if (text === undefined) return undefined
  if (/^(1|yes|y|true|t|on)$/i.test(text)) return true
  if (/^(0|no|n|false|f|off)$/i.test(text)) return false
  return undefined
}

/** As far as can be seen: of a base elsewhere it is assumed. */
export function canReload(unit: EffectiveUnit): boolean {
  switch (typeOf(unit.name)) {
    case 'mount':
      return true
    case 'service':
      return (
        unit.base === 'elsewhere' ||
        lastValue(unit, 'Service', 'ExecReload') !== undefined ||
        lastValue(unit, 'Service', 'Type') === 'notify-reload'
      )
    default:
      return false
  }
}
