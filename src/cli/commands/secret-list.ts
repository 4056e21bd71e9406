import { answer, command } from '../command.ts'
import { controlPlane, serverOptions, withServer } from '../server.ts'

export const secretList = command({
  name: 'secret list',
  group: controlPlane,
  nature: 'question',
  summary: 'the keys of secrets, and who uses them',
  description: ['Values are never shown.'],
  options: serverOptions,
  examples: [{ line: 'cairn secret list', about: 'also: cairn secret ls' }],
  run: async values => {
    const { listSecrets } = await import('../../server/contract/access.ts')
    const { printSecrets } = await import('../views/access.ts')
    const report = await withServer(values, client => client.call(listSecrets, {}))
    return answer({ report: report.secrets, print: printSecrets, json: report })
  },
})
