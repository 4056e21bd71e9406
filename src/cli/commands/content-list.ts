import { answer, command } from '../command.ts'
import { contentGroup, contentOptions, contentOptionsOf } from '../content.ts'
import { whereOf } from '../node.ts'

export const contentList = command({
  name: 'content list',
  group: contentGroup,
  nature: 'question',
  summary: 'what is wanted here, and how far it is',
  description: ['Every image and file that somebody on this machine asks for, with its state and size.'],
  options: contentOptions,
  examples: [{ line: 'cairn content list', about: 'also: cairn content ls' }],
  run: async (values, session) => {
    const { listContent } = await import('../../content/node.ts')
    const { printContentList } = await import('../views/content.ts')
    const report = await listContent(contentOptionsOf(values, session))
    return answer({ report, print: printContentList, json: { content: report }, where: whereOf(values) })
  },
})
