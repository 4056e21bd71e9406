import { answer, command } from '../command.ts'
import { required, text } from '../parameter.ts'
import { controlPlane, serverOptions, withServer } from '../server.ts'

export const tokenRevoke = command({
  name: 'token revoke',
  group: controlPlane,
  nature: 'server',
  summary: 'revoke a token, at once',
  description: ['Whoever uses it is refused from now on.'],
  args: { id: required(text('ID', 'as cairn token list shows it')) },
  options: serverOptions,
  examples: [{ line: 'cairn token revoke 01jc8xq2vn4h5t6w7y9z', about: 'by its id' }],
  run: async ({ id, ...values }) => {
    const { revokeToken } = await import('../../server/contract/access.ts')
    await withServer(values, client => client.call(revokeToken, { params: { id } }))
    return answer({ report: { revoked: id }, print: ({ revoked }) => `Revoked ${revoked}.` })
  },
})
