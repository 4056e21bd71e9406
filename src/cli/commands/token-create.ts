import { answer, command } from '../command.ts'
import { choice, required, text } from '../parameter.ts'
import { controlPlane, serverOptions, withServer } from '../server.ts'

export const tokenCreate = command({
  name: 'token create',
  group: controlPlane,
  nature: 'server',
  summary: 'make a token; it is shown this once',
  description: [
    'admin may do everything, operator everything but tokens and the audit log, viewer may look and plan, machine sees and reports one machine only.',
  ],
  args: { name: required(text('NAME', 'what it is for')) },
  options: {
    role: required(choice('--role ROLE', 'what it may do', ['admin', 'operator', 'viewer', 'machine'])),
    machine: text('--machine NAME', 'which machine, for the role machine'),
    expiresIn: text('--expires-in DURATION', '30d; default: never'),
    ...serverOptions,
  },
  examples: [
    { line: 'cairn token create ci --role operator --expires-in 90d', about: 'for a pipeline' },
    { line: 'cairn token create wall --role viewer', about: 'for a screen on the wall' },
  ],
  run: async ({ name, role, machine, expiresIn, ...values }) => {
    const { createToken } = await import('../../server/contract/access.ts')
    const { printNewToken } = await import('../views/access.ts')
    const body = {
      name,
      role,
      ...(machine !== undefined && { machine }),
      ...(expiresIn !== undefined && { expiresIn }),
    }
    const report = await withServer(values, client => client.call(createToken, { body }))
    return answer({ report, print: printNewToken })
  },
})
