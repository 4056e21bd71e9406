import { schemaNames } from '../../resources/schema-names.ts'
import { answer, command } from '../command.ts'
import { choice, required } from '../parameter.ts'

export const schema = command({
  name: 'schema',
  group: 'Shell and reference',
  nature: 'question',
  summary: 'print the JSON Schema of a kind',
  description: [
    'For editors and other programs that write or check these files. Bundle is the schema of every document of a bundle; the line "# yaml-language-server: $schema=bundle.schema.json" names it in a file.',
  ],
  args: { kind: required(choice('KIND', 'which kind', schemaNames)) },
  examples: [
    { line: 'cairn schema Bundle > bundle.schema.json', about: 'all kinds, for the YAML language server' },
    { line: 'cairn schema OverlayConfig > overlay.schema.json', about: 'then name it in your editor' },
  ],
  run: async ({ kind }) => {
    const { jsonSchemas } = await import('../../resources/json-schema.ts')
    return answer({ report: jsonSchemas[kind](), print: found => JSON.stringify(found, null, 2) })
  },
})
