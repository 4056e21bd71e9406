import { realClock } from '../../lib/clock.ts'
import { answer, command } from '../command.ts'
import { flag, required, text } from '../parameter.ts'
import { controlPlane, dataDirectory, dataOption } from '../server.ts'

export const restore = command({
  name: 'restore',
  group: controlPlane,
  nature: 'store',
  summary: 'bring back what cairn backup saved',
  description: [
    'Refused while a control plane runs there, and when there is data already; with --force that is kept beside it.',
  ],
  args: { file: required(text('FILE', 'made by cairn backup', 'file')) },
  options: { data: dataOption, force: flag('--force', 'although there is data already') },
  examples: [{ line: 'cairn restore cairn.backup --data ./fresh', about: 'into a new folder' }],
  run: async ({ file, data, force }) => {
    const { restoreDatabase } = await import('../../server/backup.ts')
    const directory = dataDirectory(data)
    const report = await restoreDatabase({
      from: file,
      dataDirectory: directory,
      force: force === true,
      clock: realClock,
    })
    return answer({ report, print: () => `Restored to ${directory}. Start it with cairn up --data ${directory}.` })
  },
})
