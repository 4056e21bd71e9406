import { command } from '../command.ts'
import { required, text } from '../parameter.ts'
import { bundleGroup, serverOptions } from '../server.ts'
import { removalOptions } from '../stack-removal.ts'

export const stacksUninstall = command({
  name: 'stacks uninstall',
  group: bundleGroup,
  nature: 'server',
  summary: 'delete what a stack made; its record stays',
  description: [
    'As if an empty bundle were applied: what it made is deleted, what it adopted or was told to retain is released. The stack can be applied again.',
  ],
  args: { stack: required(text('STACK', 'id or name')) },
  options: { ...removalOptions, ...serverOptions },
  examples: [{ line: 'cairn stacks uninstall homelab', about: 'shows the plan and asks' }],
  run: async (values, session) => (await import('../stack-commands.ts')).uninstall(values, session),
})
