import { answer, command } from '../command.ts'
import { required, text } from '../parameter.ts'
import { controlPlane, serverOptions, withServer } from '../server.ts'

export const secretRm = command({
  name: 'secret rm',
  group: controlPlane,
  nature: 'server',
  summary: 'remove a secret that nothing uses',
  description: ['Refused while a resource refers to it.'],
  args: { key: required(text('KEY', 'as secretRef names it')) },
  options: serverOptions,
  examples: [{ line: 'cairn secret rm registry-password', about: 'for good' }],
  run: async ({ key, ...values }) => {
    const { deleteSecret } = await import('../../server/contract/access.ts')
    await withServer(values, client => client.call(deleteSecret, { params: { key } }))
    return answer({ report: { removed: key }, print: ({ removed }) => `Removed ${removed}.` })
  },
})
