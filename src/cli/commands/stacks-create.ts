import { answer, command } from '../command.ts'
import { list, required, text } from '../parameter.ts'
import { bundleGroup, serverOptions, withServer } from '../server.ts'

export const stacksCreate = command({
  name: 'stacks create',
  group: bundleGroup,
  nature: 'server',
  summary: 'make an empty stack',
  description: [
    'Apply makes one by itself when none is given; make it first to give it URLs. Then cairn apply --stack NAME without files fetches those.',
  ],
  args: { name: required(text('NAME', 'need not be unique; a stack also has an id')) },
  options: {
    description: text('--description TEXT', 'what it is for'),
    url: list(text('-u, --url URL', 'where its bundle is; may be given again')),
    reconcile: text('--reconcile DURATION', 'correct drift this often; default: never'),
    ...serverOptions,
  },
  examples: [{ line: 'cairn stacks create homelab -u https://git.example/fleet/homelab.yaml', about: 'from a URL' }],
  run: async ({ name, description, url, reconcile, ...values }) => {
    const { createStack } = await import('../../server/contract/stacks.ts')
    const body = {
      name,
      ...(description !== undefined && { description }),
      ...(url && { urls: [...url] }),
      ...(reconcile !== undefined && { reconcile }),
    }
    const report = await withServer(values, client => client.call(createStack, { body }))
    return answer({ report, print: ({ name, id }) => `Stack ${name} made, id ${id}.` })
  },
})
