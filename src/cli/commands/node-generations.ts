import { answer, command } from '../command.ts'
import { nodeOptions, nodeOptionsOf, thisMachine, whereOf } from '../node.ts'

export const nodeGenerations = command({
  name: 'node generations',
  group: thisMachine,
  nature: 'question',
  summary: 'list what was activated here, newest first',
  description: ['Each apply that changes something makes a generation. The current one is marked.'],
  options: nodeOptions,
  examples: [{ line: 'cairn node generations', about: 'what can be gone back to' }],
  run: async (values, session) => {
    const { generationsOf } = await import('../../overlay/node.ts')
    const { generationsToJson, printGenerations } = await import('../views/generations.ts')
    const report = await generationsOf(nodeOptionsOf(values, session))
    return answer({ report, print: printGenerations, json: generationsToJson(report), where: whereOf(values) })
  },
})
