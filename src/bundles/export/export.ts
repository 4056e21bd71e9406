// Live resources as a bundle that gives them back: selects, lets what they need come along, and writes them in bundle terms.
// The same each time, byte for byte; reading it back has no Problems.
import type { EnginePorts, ExportAnswer, ExportRequest } from '../engine.ts'
import { exportedOf } from './plan-export.ts'
import { selectResources } from './select.ts'

export async function exportBundle({
  ports,
  request,
}: {
  readonly ports: Pick<EnginePorts, 'store' | 'platforms'>
  readonly request: ExportRequest
}): Promise<ExportAnswer> {
  const selection = await selectResources(ports, request)
  const written = exportedOf(selection, request)
  return {
    resources: selection.problems.length > 0 ? [] : written.resources,
    problems: [...selection.problems, ...written.problems],
    warnings: [...selection.warnings, ...written.warnings],
  }
}
