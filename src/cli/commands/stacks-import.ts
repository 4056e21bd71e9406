import { answer, command } from '../command.ts'
import { list, required, text } from '../parameter.ts'
import { bundleGroup, serverOptions } from '../server.ts'

export const stacksImport = command({
  name: 'stacks import',
  group: bundleGroup,
  nature: 'server',
  summary: 'take live resources into a stack',
  description: [
    'All of them, or none. Nothing live is changed. The answer is the text to paste into the bundle. What is imported is kept when it leaves the bundle, unless the bundle says otherwise.',
  ],
  args: {
    stack: required(text('STACK', 'id or name')),
    resources: list(text('KIND/NAME[=AS]', 'by display name, or KIND/id:ID; AS is its metadata.name')),
  },
  options: serverOptions,
  examples: [
    { line: 'cairn stacks import homelab Machine/atlas >> homelab.yaml', about: 'and its text into the bundle' },
  ],
  run: async ({ stack, resources = [], ...values }) => {
    const { importResources } = await import('../stack-commands.ts')
    const { exportedYaml } = await import('../../bundles/export/text.ts')
    const report = await importResources(stack, resources, values)
    return answer({ report, print: ({ exported }) => exportedYaml(exported).trimEnd() })
  },
})
