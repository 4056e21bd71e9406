// The parts of a unit's name, and the specifiers that stand for them. Others would tell about the machine that the runner
// only plays at being, so they are refused.
import type { UnitName } from '../../names.ts'
import { Cannot } from './cannot.ts'

export function expandSpecifiers(text: string, unit: UnitName): string {
  return text.replace(/%(.|$)/g, (specifier, letter: string) => {
    const value = specifierValues(unit)[letter]
    if (value === undefined) throw new Cannot(`expand ${specifier}`)
    return value
  })
}

function specifierValues(unit: UnitName): Readonly<Record<string, string>> {
  const withoutType = unit.replace(/\.[a-z]+$/, '')
  const [prefix = '', ...instance] = withoutType.split('@')
  return { '%': '%', n: unit, N: withoutType, p: prefix, i: instance.join('@') }
}
