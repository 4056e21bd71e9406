import { answer, command } from '../command.ts'
import { flag, list, required, text } from '../parameter.ts'
import { bundleGroup, serverOptions, withServer } from '../server.ts'

export const stacksUpdate = command({
  name: 'stacks update',
  group: bundleGroup,
  nature: 'server',
  summary: 'change name, description, URLs or reconcile of a stack',
  description: ['URLs are replaced as a whole. Resources are not touched.'],
  args: { stack: required(text('STACK', 'id or name')) },
  options: {
    name: text('--name NAME', 'a new name'),
    description: text('--description TEXT', 'what it is for'),
    url: list(text('-u, --url URL', 'where its bundle is; may be given again')),
    noUrls: flag('--no-urls', 'take its URLs away'),
    reconcile: text('--reconcile DURATION', 'correct drift this often; 0s: never'),
    ...serverOptions,
  },
  examples: [{ line: 'cairn stacks update homelab --reconcile 10m', about: 'drift is corrected every ten minutes' }],
  run: async ({ stack, name, description, url, noUrls, reconcile, ...values }) => {
    const { patchStack } = await import('../../server/contract/stacks.ts')
    const body = {
      ...(name !== undefined && { name }),
      ...(description !== undefined && { description }),
      ...(url ? { urls: [...url] } : noUrls ? { urls: [] } : {}),
      ...(reconcile !== undefined && { reconcile: /^0(ms|s|m|h|d)$/.test(reconcile) ? null : reconcile }),
    }
    const report = await withServer(values, client => client.call(patchStack, { params: { id: stack }, body }))
    return answer({ report, print: ({ name }) => `Stack ${name} is up to date.` })
  },
})
