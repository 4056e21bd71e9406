import { answer, command } from '../command.ts'
import { flag, required, text } from '../parameter.ts'
import { bundleGroup, serverOptions, withServer } from '../server.ts'

export const stacksUnlock = command({
  name: 'stacks unlock',
  group: bundleGroup,
  nature: 'server',
  summary: 'take the lock of a stack away from whoever holds it',
  description: [
    'What that one writes from then on is refused. A lock whose holder died ends by itself in half a minute. It is noted in the history.',
  ],
  args: { stack: required(text('STACK', 'id or name')) },
  options: { force: required(flag('--force', 'yes, really')), ...serverOptions },
  examples: [{ line: 'cairn stacks unlock homelab --force', about: 'when its holder hangs' }],
  run: async ({ stack, force, ...values }) => {
    const { unlockStack } = await import('../../server/contract/stacks.ts')
    const report = await withServer(values, client =>
      client.call(unlockStack, { params: { id: stack }, body: { force } }),
    )
    return answer({
      report,
      print: ({ was }) => (was ? `Taken from ${was.holder} (${was.operation}).` : 'It was not locked.'),
    })
  },
})
