import { answer, command } from '../command.ts'
import { choice, required } from '../parameter.ts'

export const schema = command({
  name: 'schema',
  group: 'Shell and reference',
  nature: 'question',
  summary: 'print the JSON Schema of a kind',
  description: ['For editors and other programs that write or check these files.'],
  args: { kind: required(choice('KIND', 'which kind', ['ContentSettings', 'OverlayConfig'])) },
  examples: [{ line: 'cairn schema OverlayConfig > overlay.schema.json', about: 'then name it in your editor' }],
  run: async ({ kind }) => {
    const { jsonSchemas } = await import('../../resources/json-schema.ts')
    return answer({ report: jsonSchemas[kind](), print: found => JSON.stringify(found, null, 2) })
  },
})
