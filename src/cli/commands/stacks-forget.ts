import { answer, command } from '../command.ts'
import { list, required, text } from '../parameter.ts'
import { bundleGroup, serverOptions, withServer } from '../server.ts'

export const stacksForget = command({
  name: 'stacks forget',
  group: bundleGroup,
  nature: 'server',
  summary: 'release resources from a stack; they stay as they are',
  description: [
    'Afterwards no stack owns them, and another may import them. Take them out of the bundle too, or the next apply finds them in its way.',
  ],
  args: {
    stack: required(text('STACK', 'id or name')),
    resources: list(text('KIND[/NAME]', 'all of a kind, or one by its metadata.name')),
  },
  options: serverOptions,
  examples: [{ line: 'cairn stacks forget homelab Volume/data', about: 'one' }],
  run: async ({ stack, resources = [], ...values }) => {
    const { forgetInStack } = await import('../../server/contract/stacks.ts')
    const { selectorsOf } = await import('../bundle-input.ts')
    const { printOutcome } = await import('../views/stack.ts')
    const body = { resources: selectorsOf(resources) }
    const report = await withServer(values, client => client.call(forgetInStack, { params: { id: stack }, body }))
    return answer({
      report,
      print: ({ outcome }, style) => printOutcome(outcome, style, 'Released; they stay as they are.'),
    })
  },
})
