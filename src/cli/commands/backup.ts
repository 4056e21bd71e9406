import { realClock } from '../../lib/clock.ts'
import { answer, command } from '../command.ts'
import { flag, required, text } from '../parameter.ts'
import { controlPlane, dataDirectory, dataOption } from '../server.ts'

export const backup = command({
  name: 'backup',
  group: controlPlane,
  nature: 'store',
  summary: 'save the embedded database and the key of its secrets',
  description: [
    'One file with everything, also while the control plane runs. It holds the key that secrets are sealed with: keep it where only you can read it. PostgreSQL has pg_dump.',
  ],
  args: { file: required(text('FILE', 'where to', 'file')) },
  options: { data: dataOption, force: flag('--force', 'replace a file that is there') },
  examples: [{ line: 'cairn backup cairn.backup', about: 'now' }],
  run: async ({ file, data, force }) => {
    const { backupDatabase } = await import('../../server/backup.ts')
    const report = await backupDatabase({
      dataDirectory: dataDirectory(data),
      out: file,
      force: force === true,
      clock: realClock,
    })
    return answer({ report, print: () => `Saved to ${file}. cairn restore ${file} brings it back.` })
  },
})
