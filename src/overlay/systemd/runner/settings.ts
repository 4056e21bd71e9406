// Typed readers for the settings of one effective unit. A value that systemd would not take, or that the runner has not,
// is refused with its key.
import { constants } from 'node:os'
import { booleanOf, type EffectiveUnit, lastValue, valuesOf, wordsOf } from '../../units/effective.ts'
import { Cannot } from './cannot.ts'
import { readTimeSpan } from './time-span.ts'

export type Section = 'Unit' | 'Service'

export interface Settings {
  all(key: string): readonly string[]
  words(key: string): readonly string[]
  last(key: string): string | undefined
  boolean(key: string): boolean
  count(key: string, otherwise: number): number
  choice<C extends string>(key: string, choices: readonly C[], otherwise: C): C
  /** Milliseconds; null is infinity. */
  timeSpan<D>(key: string, otherwise: D): number | null | D
  signal(key: string, otherwise: NodeJS.Signals): NodeJS.Signals
}

export function settingsOf(unit: EffectiveUnit, section: Section): Settings {
  const last = (key: string) => lastValue(unit, section, key)
  /** Reads the last value; `read` answers undefined for one that it does not take. */
  const one = <T, D>(key: string, otherwise: D, read: (value: string) => T | undefined): T | D => {
    const value = last(key)
    if (value === undefined) return otherwise
    const result = read(value)
    if (result === undefined) throw new Cannot(`honour ${key}=${value}`)
    return result
  }
  return {
    all: key => valuesOf(unit, section, key),
    words: key => wordsOf(unit, section, key),
    last,
    boolean: key => one(key, false, booleanOf),
    count: (key, otherwise) => one(key, otherwise, value => (/^\d{1,9}$/.test(value) ? Number(value) : undefined)),
    choice: (key, choices, otherwise) => one(key, otherwise, value => choices.find(choice => choice === value)),
    timeSpan: (key, otherwise) => one(key, otherwise, readTimeSpan),
    signal: (key, otherwise) => one(key, otherwise, readSignal),
  }
}

/** Refuses, all at once, the keys of a section that are neither understood nor without meaning for a process. */
export function refuseOthers(unit: EffectiveUnit, section: Section, understood: ReadonlySet<string>) {
  const keys = [...(unit.sections.get(section)?.keys() ?? [])]
  const unknown = keys.filter(key => !key.startsWith('X-') && !understood.has(key))
  if (unknown.length > 0) throw new Cannot(`honour ${unknown.map(key => `${key}=`).join(', ')}`)
}

/** `SIGTERM`, `TERM` or `15`; undefined for what is no signal. */
export function readSignal(text: string): NodeJS.Signals | undefined {
  const known = Object.entries(constants.signals) as [NodeJS.Signals, number][]
  return known.find(([name, number]) => [name, name.slice('SIG'.length), String(number)].includes(text))?.[0]
}
