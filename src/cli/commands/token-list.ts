import { answer, command } from '../command.ts'
import { controlPlane, serverOptions, withServer } from '../server.ts'

export const tokenList = command({
  name: 'token list',
  group: controlPlane,
  nature: 'question',
  summary: 'the tokens there are, never their text',
  description: ['With role, age, and when they expire or were revoked.'],
  options: serverOptions,
  examples: [{ line: 'cairn token list', about: 'also: cairn token ls' }],
  run: async values => {
    const { listTokens } = await import('../../server/contract/access.ts')
    const { printTokens } = await import('../views/access.ts')
    const report = await withServer(values, client => client.call(listTokens, {}))
    return answer({ report: report.tokens, print: printTokens, json: report })
  },
})
