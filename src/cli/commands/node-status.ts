import { answer, command } from '../command.ts'
import { nodeOptions, nodeOptionsOf, thisMachine, whereOf } from '../node.ts'
import { flag } from '../parameter.ts'

export const nodeStatus = command({
  name: 'node status',
  group: thisMachine,
  nature: 'question',
  summary: 'is this machine as its generation says?',
  description: [
    'Compares /etc with the current generation: missing, replaced or edited targets, wrong modes and owners; and names units that failed or wait for a daemon-reload. Changes nothing.',
  ],
  options: {
    exitCode: flag('--exit-code', 'exit 2 when something differs'),
    scan: flag('--scan', 'also search /etc for links into the store that no generation has'),
    ...nodeOptions,
  },
  examples: [
    { line: 'cairn node status', about: 'drift and failed units' },
    { line: 'cairn node status --exit-code --json', about: 'for monitoring' },
  ],
  run: async (values, session) => {
    const { statusOf } = await import('../../overlay/node.ts')
    const { exitOfStatus, printStatus } = await import('../views/status.ts')
    const report = await statusOf({ ...values, ...nodeOptionsOf(values, session) })
    return answer({ report, print: printStatus, exit: exitOfStatus(report, values), where: whereOf(values) })
  },
})
