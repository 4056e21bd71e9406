import { command } from '../command.ts'
import { flag, required, text } from '../parameter.ts'
import { bundleGroup, serverOptions } from '../server.ts'
import { removalOptions } from '../stack-removal.ts'

export const stacksDelete = command({
  name: 'stacks delete',
  group: bundleGroup,
  nature: 'server',
  summary: 'uninstall a stack, then forget its record',
  description: [
    'With --keep-resources nothing live is deleted: all of it is released. Deleting what is not there is no error.',
  ],
  args: { stack: required(text('STACK', 'id or name')) },
  options: {
    keepResources: flag('--keep-resources', 'delete the record only'),
    ...removalOptions,
    ...serverOptions,
  },
  examples: [{ line: 'cairn stacks delete homelab --keep-resources --yes', about: 'the record only' }],
  run: async (values, session) => (await import('../stack-commands.ts')).deleteStack(values, session),
})
