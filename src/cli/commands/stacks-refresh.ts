import { answer, command } from '../command.ts'
import { flag, required, text } from '../parameter.ts'
import { bundleGroup, serverOptions, withServer } from '../server.ts'

export const stacksRefresh = command({
  name: 'stacks refresh',
  group: bundleGroup,
  nature: 'server',
  summary: 'what changed outside; with --accept the record follows',
  description: [
    'Compares what was applied last with what is live. --accept takes the live values as applied and drops what is gone; the bundle may then differ.',
  ],
  args: { stack: required(text('STACK', 'id or name')) },
  options: { accept: flag('--accept', 'let the record follow what is live'), ...serverOptions },
  examples: [
    { line: 'cairn stacks refresh homelab', about: 'has somebody changed it?' },
    { line: 'cairn stacks refresh homelab --accept', about: 'yes, and it is right so' },
  ],
  run: async ({ stack, accept, ...values }) => {
    const { refreshStack } = await import('../../server/contract/stacks.ts')
    const { printDrift } = await import('../views/bundle-plan.ts')
    const body = accept ? { accept } : {}
    const report = await withServer(values, client => client.call(refreshStack, { params: { id: stack }, body }))
    return answer({
      report,
      print: ({ drift, stack }, style) => printDrift({ drift, stack: stack.name, accepted: accept === true }, style),
    })
  },
})
