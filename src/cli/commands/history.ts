import { answer, command } from '../command.ts'
import { count } from '../parameter.ts'
import { controlPlane, serverOptions, withServer } from '../server.ts'

export const history = command({
  name: 'history',
  group: controlPlane,
  nature: 'question',
  summary: 'every change that was asked for, and by whom',
  description: ['The audit log, newest first. What happened to one stack is in cairn stacks history.'],
  options: { limit: count('--limit N', 'how many; default 50', 1), ...serverOptions },
  examples: [{ line: 'cairn history --limit 10', about: 'the last ten' }],
  run: async values => {
    const { listAudit } = await import('../../server/contract/access.ts')
    const { printAudit } = await import('../views/access.ts')
    const limit = Math.min(values.limit ?? 50, 500)
    const { entries } = await withServer(values, client => client.call(listAudit, { query: { limit } }))
    return answer({ report: entries, print: printAudit, json: { entries } })
  },
})
