import { answer, command } from '../command.ts'
import { contentGroup, contentOptions, contentOptionsOf } from '../content.ts'
import { whereOf } from '../node.ts'
import { flag } from '../parameter.ts'

export const contentGc = command({
  name: 'content gc',
  group: contentGroup,
  nature: 'store',
  summary: 'remove blobs and volumes that nobody wants',
  description: [
    'They would go by themselves after content.deleteDelay and content.gc.volume; this does not wait. What is asked for, and what has no name that Cairn gives, stays.',
  ],
  options: { dryRun: flag('--dry-run', 'show what would go, remove nothing'), ...contentOptions },
  examples: [{ line: 'cairn content gc --dry-run', about: 'what would go, and how much it is' }],
  run: async (values, session) => {
    const { collectContent } = await import('../../content/node.ts')
    const { printCollected } = await import('../views/content.ts')
    const { dryRun = false } = values
    const unused = await collectContent({ dryRun, ...contentOptionsOf(values, session) })
    return answer({ report: { dryRun, unused }, print: printCollected, where: whereOf(values) })
  },
})
