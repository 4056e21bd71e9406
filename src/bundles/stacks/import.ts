// Live resources taken into a stack as they are, all or none, answered with the text to paste into its bundle.
import type { Running } from '../apply/running.ts'
import type { Engine, EnginePorts } from '../engine.ts'
import { exportBundle } from '../export/export.ts'
import { operate } from './operate.ts'

type Import = Engine['import']

export async function importResources(
  ports: EnginePorts,
  running: Running,
  operation: Parameters<Import>[0],
): ReturnType<Import> {
  const mode = { do: 'import', resources: operation.resources } as const
  const answer = await operate(ports, running, { operation, word: 'import', mode })
  const resources = answer.plan.actions.flatMap(({ action, kind, id }) =>
    action === 'adopt' && id !== undefined ? [{ kind, id }] : [],
  )
  if (resources.length === 0) return { ...answer, exported: [] }
  const { resources: exported } = await exportBundle({
    ports,
    request: { stacks: [], resources, filters: {}, noDependencies: true },
  })
  return { ...answer, exported }
}
