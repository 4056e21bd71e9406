import { answer, command } from '../command.ts'
import { contentGroup, contentOptions, contentOptionsOf } from '../content.ts'
import { whereOf } from '../node.ts'
import { required, text } from '../parameter.ts'

export const contentExplain = command({
  name: 'content explain',
  group: contentGroup,
  nature: 'question',
  summary: 'why something is not ready, down to the blob',
  description: ['Every blob with its state and bytes; for those that are held up, the reason and the next try.'],
  args: { name: required(text('NAME', 'its name, or the beginning of its digest or id')) },
  options: contentOptions,
  examples: [{ line: 'cairn content explain registry.example/app:1.2', about: 'what is it waiting for?' }],
  run: async (values, session) => {
    const { showContent } = await import('../../content/node.ts')
    const { printExplained } = await import('../views/content.ts')
    const report = await showContent(values.name, contentOptionsOf(values, session))
    return answer({ report, print: printExplained, where: whereOf(values) })
  },
})
