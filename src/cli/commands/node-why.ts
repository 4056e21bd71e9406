import { answer, command } from '../command.ts'
import { nodeOptions, nodeOptionsOf, thisMachine, whereOf } from '../node.ts'
import { required, text } from '../parameter.ts'

export const nodeWhy = command({
  name: 'node why',
  group: thisMachine,
  nature: 'question',
  summary: 'what keeps a package in the store?',
  description: ['Names each generation, journal or process that needs a state, and the way from it to the state.'],
  args: { state: required(text('STATE', 'a directory name below states/')) },
  options: nodeOptions,
  examples: [{ line: 'cairn node why $(basename /cairn/states/runc-*)', about: 'why gc leaves it' }],
  run: async (values, session) => {
    const { whyAliveNode } = await import('../../overlay/node.ts')
    const { printWhy } = await import('../views/why.ts')
    const report = await whyAliveNode(values.state, nodeOptionsOf(values, session))
    return answer({ report, print: printWhy, where: whereOf(values) })
  },
})
