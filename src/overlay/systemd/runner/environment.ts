// Environment= and EnvironmentFile=: assignments as systemd.exec(5) reads them.
import type { UnitName } from '../../names.ts'
import { Cannot } from './cannot.ts'
import { expandSpecifiers } from './specifiers.ts'
import { splitWords } from './words.ts'

export type Environment = Readonly<Record<string, string>>

/** The later of two assignments counts. */
export function readEnvironment(values: readonly string[], unit: UnitName): Environment {
  const assignments = values.flatMap(splitWords).map(({ text }) => expandSpecifiers(text, unit))
  return Object.fromEntries(
    assignments.map(assignment => {
      const [, name, value = ''] = /^([A-Za-z_]\w*)=(.*)$/s.exec(assignment) ?? []
      if (name === undefined) throw new Cannot(`read Environment=${assignment}: not NAME=value`)
      return [name, value]
    }),
  )
}

/** Lines of NAME=value; comments begin with # or ; and lines that are no assignment are passed over, as systemd does. */
export function readEnvironmentFile(text: string): Environment {
  const lines = text.replaceAll('\\\n', '').split('\n')
  return Object.fromEntries(
    lines.flatMap(line => {
      const [, name, value = ''] = /^\s*([A-Za-z_]\w*)\s*=\s*(.*?)\s*$/.exec(line) ?? []
      return name === undefined ? [] : [[name, unquote(value)]]
    }),
  )
}

/** 'as it stands', "with \" and \\ escaped", or bare with any character escaped. */
function unquote(value: string): string {
  if (/^'[^']*'$/.test(value)) return value.slice(1, -1)
  if (/^"(?:[^"\\]|\\.)*"$/.test(value)) return value.slice(1, -1).replace(/\\(["\\$`])/g, '$1')
  return value.replace(/\\(.)/g, '$1')
}
