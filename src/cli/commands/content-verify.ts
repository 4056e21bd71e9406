import { answer, command } from '../command.ts'
import { contentGroup, contentOptions, contentOptionsOf } from '../content.ts'
import { whereOf } from '../node.ts'

export const contentVerify = command({
  name: 'content verify',
  group: contentGroup,
  nature: 'store',
  summary: 'hash everything that is kept once more',
  description: [
    'A file that rotted is taken away at once, and fetched again when something here needs it. Read/write volumes are not touched.',
  ],
  options: contentOptions,
  examples: [{ line: 'cairn content verify', about: 'exit 1 when something was damaged' }],
  run: async (values, session) => {
    const { verifyContent } = await import('../../content/node.ts')
    const { printChecked } = await import('../views/content.ts')
    const report = await verifyContent(contentOptionsOf(values, session))
    return answer({ report, print: printChecked, exit: report.damaged.length > 0 ? 1 : 0, where: whereOf(values) })
  },
})
