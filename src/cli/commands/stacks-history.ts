import { answer, command } from '../command.ts'
import { count, required, text } from '../parameter.ts'
import { bundleGroup, serverOptions, withServer } from '../server.ts'

export const stacksHistory = command({
  name: 'stacks history',
  group: bundleGroup,
  nature: 'question',
  summary: 'what happened to a stack',
  description: ['Newest first: the last 200 events and the first one are kept.'],
  args: { stack: required(text('STACK', 'id or name')) },
  options: { limit: count('--limit N', 'how many; default all', 1), ...serverOptions },
  examples: [{ line: 'cairn stacks history homelab --limit 5', about: 'the last five' }],
  run: async ({ stack, limit = 201, ...values }) => {
    const { stackEvents } = await import('../../server/contract/stacks.ts')
    const { printHistory } = await import('../views/stack.ts')
    const request = { params: { id: stack }, query: { limit: Math.min(limit, 201) } }
    const { events } = await withServer(values, client => client.call(stackEvents, request))
    return answer({ report: events, print: printHistory, json: { events } })
  },
})
