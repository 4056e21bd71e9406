import { answer, command } from '../command.ts'
import { readInput } from '../input.ts'
import { configOptions, dedup, nodeOptions, nodeOptionsOf, thisMachine, whereOf } from '../node.ts'

export const nodePrepare = command({
  name: 'node prepare',
  group: thisMachine,
  nature: 'store',
  summary: 'fetch and build all that a config needs; activate nothing',
  description: [
    'Installs the packages, renders the units and builds the etc overlay of a config in the store. What is there already is not fetched again. After it, apply needs no network.',
  ],
  options: { ...configOptions, dedup, ...nodeOptions },
  examples: [
    { line: 'cairn node prepare -f overlay.json', about: 'have everything ready for a later apply' },
    { line: 'cairn node prepare -f - --root ./try < overlay.json', about: 'from standard input, below a directory' },
  ],
  run: async (values, session) => {
    const { prepareNode } = await import('../../overlay/node.ts')
    const { printPrepare } = await import('../views/prepare.ts')
    const input = await readInput(values.file, session.terminal)
    const report = await prepareNode(input, { ...values, ...nodeOptionsOf(values, session) })
    return answer({ report, print: printPrepare, where: whereOf(values) })
  },
})
