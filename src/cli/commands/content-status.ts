import { answer, command } from '../command.ts'
import { contentGroup, contentOptions, contentOptionsOf } from '../content.ts'
import { whereOf } from '../node.ts'

export const contentStatus = command({
  name: 'content status',
  group: contentGroup,
  nature: 'question',
  summary: 'the processes, and what keeps them from the network',
  description: [
    'The verifier and the volume manager prove at each start that they cannot connect to anything; this shows the proof, and which walls hold on this machine.',
  ],
  options: contentOptions,
  examples: [{ line: 'cairn content status --json', about: 'for monitoring' }],
  run: async (values, session) => {
    const { contentProcesses } = await import('../../content/node.ts')
    const { printProcesses } = await import('../views/content.ts')
    const report = await contentProcesses(contentOptionsOf(values, session))
    return answer({ report, print: printProcesses, json: { processes: report }, where: whereOf(values) })
  },
})
