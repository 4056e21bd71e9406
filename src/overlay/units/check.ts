// All that can be said about one declared unit before anything is installed.
import { fieldPath } from '../../lib/located-json.ts'
import type { Problem, Warning } from '../../lib/problem.ts'
import type { UnitName } from '../names.ts'
import { mergeTexts, textsInOrder } from './effective.ts'
import { parseUnit } from './parse.ts'
import { policyProblems } from './policy.ts'
import { unitEmpty } from './problems.ts'

export interface DeclaredUnit {
  readonly name: UnitName
  /** Rendered. */
  readonly text: string
  readonly dropIns?: Readonly<Record<string, string>>
  /** In the config: `systemdUnitsByName.web`. */
  readonly path: string
}

export function checkUnit({ name, text, dropIns = {}, path }: DeclaredUnit): {
  problems: Problem[]
  warnings: Warning[]
} {
  const base = { path: `${path}.templateInline` }
  const texts = textsInOrder(name, text, dropIns)
  const readings = texts.map((part, index) => {
    const where = index === 0 ? base : { path: fieldPath(`${path}.dropIns`, part.path.slice(`${name}.d/`.length)) }
    return parseUnit(part.text, where)
  })
  const problems = readings.flatMap(reading => reading.problems)
  if (problems.length === 0 && readings[0]!.unit.sections.length === 0) problems.push(unitEmpty(base, name))
  problems.push(...policyProblems(mergeTexts({ name, base: 'here', texts }), base))
  return { problems, warnings: readings.flatMap(reading => reading.warnings) }
}
