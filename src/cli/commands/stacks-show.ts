import { answer, command } from '../command.ts'
import { required, text } from '../parameter.ts'
import { bundleGroup, serverOptions, withServer } from '../server.ts'

export const stacksShow = command({
  name: 'stacks show',
  group: bundleGroup,
  nature: 'question',
  summary: 'what a stack owns, and whether it is still there',
  description: ['Its record, with each resource as it is live, and who holds its lock.'],
  args: { stack: required(text('STACK', 'id or name')) },
  options: serverOptions,
  examples: [{ line: 'cairn stacks show homelab', about: 'by name' }],
  run: async ({ stack, ...values }) => {
    const { getStack } = await import('../../server/contract/stacks.ts')
    const { printStack } = await import('../views/stack.ts')
    const report = await withServer(values, client => client.call(getStack, { params: { id: stack } }))
    return answer({ report, print: printStack })
  },
})
