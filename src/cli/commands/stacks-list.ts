import { answer, command } from '../command.ts'
import { list, text } from '../parameter.ts'
import { bundleGroup, serverOptions } from '../server.ts'

export const stacksList = command({
  name: 'stacks list',
  group: bundleGroup,
  nature: 'question',
  summary: 'the stacks there are',
  description: ['What bundles made, with how much each owns and when it last changed.'],
  options: { name: list(text('--name NAME', 'only with this name; may be given again')), ...serverOptions },
  examples: [{ line: 'cairn stacks list', about: 'also: cairn stacks ls' }],
  run: async values => {
    const { allStacks } = await import('../stack-commands.ts')
    const { printStackList } = await import('../views/stack.ts')
    const stacks = await allStacks(values)
    return answer({ report: stacks, print: printStackList, json: { stacks } })
  },
})
