import { answer, command } from '../command.ts'
import { contentGroup, contentOptions, contentOptionsOf } from '../content.ts'
import { whereOf } from '../node.ts'
import { required, text } from '../parameter.ts'

export const contentRm = command({
  name: 'content rm',
  group: contentGroup,
  nature: 'store',
  summary: 'stop keeping an image or a file',
  description: ['Its blobs go when nothing else is made of them, after content.deleteDelay.'],
  args: { name: required(text('NAME', 'its name, or the beginning of its digest or id')) },
  options: contentOptions,
  examples: [{ line: 'cairn content rm registry.example/app:1.2', about: 'pull it again to have it back' }],
  run: async (values, session) => {
    const { removeContent } = await import('../../content/node.ts')
    const { printRemoved } = await import('../views/content.ts')
    const report = await removeContent(values.name, contentOptionsOf(values, session))
    return answer({ report, print: printRemoved, where: whereOf(values) })
  },
})
