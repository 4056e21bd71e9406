// OverlayConfig from text: parsed, checked against its schema and by the rules that span fields. All that is wrong comes
// in one answer; what can be understood in spite of it is checked too. Touches nothing.
import { type LocatedJson, readJson } from '../../lib/located-json.ts'
import type { Problem, Warning } from '../../lib/problem.ts'
import { type OverlayConfig, overlayConfigSchema } from '../../resources/overlay-config.ts'
import { schemaProblems } from '../../resources/schema-problems.ts'
import { checkConfig } from './check.ts'
import { understood } from './understood.ts'

export interface ConfigText {
  /** As the person named it; shown in Problems. */
  readonly file: string
  readonly text: string
}

export interface ReadConfig {
  /** What could be understood; complete when there are no problems. */
  readonly config: OverlayConfig
  readonly problems: readonly Problem[]
  readonly warnings: readonly Warning[]
  /** Adds file, line and column to Problems that have only a path. */
  locate<P extends Problem>(problems: readonly P[]): P[]
}

export function readOverlayConfig(input: ConfigText): ReadConfig {
  const json = readJson(input)
  const locate = <P extends Problem>(problems: readonly P[]) => problems.map(problem => located(json, problem))
  if (json.value === undefined) return { config: { version: '' }, problems: json.problems, warnings: [], locate }

  const parsed = overlayConfigSchema.safeParse(json.value, { reportInput: true })
  const config = parsed.success ? parsed.data : understood(json.value)
  const shape = parsed.success ? [] : schemaProblems(overlayConfigSchema, parsed.error)
  const { problems, warnings } = checkConfig(config)
  return { config, problems: locate([...json.problems, ...shape, ...problems]), warnings: locate(warnings), locate }
}

function located<P extends Problem>(json: LocatedJson, problem: P): P {
  return problem.source ? problem : { ...problem, source: json.locate(problem.path) }
}
