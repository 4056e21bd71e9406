import { answer, command } from '../command.ts'
import { required, text } from '../parameter.ts'
import { bundleGroup, serverOptions, withServer } from '../server.ts'

export const stacksCancel = command({
  name: 'stacks cancel',
  group: bundleGroup,
  nature: 'server',
  summary: 'stop the operation on a stack that is under way',
  description: ['What it did so far is taken back.'],
  args: { stack: required(text('STACK', 'id or name')) },
  options: serverOptions,
  examples: [{ line: 'cairn stacks cancel homelab', about: 'and everything is as it was' }],
  run: async ({ stack, ...values }) => {
    const { cancelStack } = await import('../../server/contract/stacks.ts')
    const report = await withServer(values, client => client.call(cancelStack, { params: { id: stack }, body: {} }))
    return answer({
      report,
      print: ({ cancelled }) => (cancelled ? 'It is being taken back.' : 'Nothing was under way.'),
    })
  },
})
