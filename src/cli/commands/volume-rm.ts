import { answer, command } from '../command.ts'
import { contentGroup, contentOptions, contentOptionsOf } from '../content.ts'
import { whereOf } from '../node.ts'
import { flag, required, text } from '../parameter.ts'

export const volumeRm = command({
  name: 'volume rm',
  group: contentGroup,
  nature: 'store',
  summary: 'take a volume away, with all that was written to it',
  description: [
    'There is no way back. A read-only volume only loses its name: its content stays as long as it is kept.',
  ],
  args: { name: required(text('NAME', 'as given to volume create')) },
  options: {
    allowDataLoss: flag('--allow-data-loss', 'needed for a volume that can be written to'),
    ...contentOptions,
  },
  examples: [{ line: 'cairn volume rm web --allow-data-loss', about: 'its data is gone after this' }],
  run: async (values, session) => {
    const { removeVolume } = await import('../../volumes/node.ts')
    const { printVolumeRemoved } = await import('../views/volume.ts')
    const { allowDataLoss = false } = values
    const report = await removeVolume(values.name, { allowDataLoss, ...contentOptionsOf(values, session) })
    return answer({ report, print: printVolumeRemoved, where: whereOf(values) })
  },
})
