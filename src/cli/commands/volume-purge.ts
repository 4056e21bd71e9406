import { answer, command } from '../command.ts'
import { contentGroup, contentOptions, contentOptionsOf } from '../content.ts'
import { whereOf } from '../node.ts'
import { required, text } from '../parameter.ts'

export const volumePurge = command({
  name: 'volume purge',
  group: contentGroup,
  nature: 'store',
  summary: 'make a volume anew from its content; what was written to it is lost',
  description: ['A new generation is made beside the old one, which goes when the new one is whole.'],
  args: { name: required(text('NAME', 'as given to volume create')) },
  options: contentOptions,
  examples: [{ line: 'cairn volume purge web', about: 'as it was on the first day' }],
  run: async (values, session) => {
    const { purgeVolume } = await import('../../volumes/node.ts')
    const { printVolume } = await import('../views/volume.ts')
    const report = await purgeVolume(values.name, contentOptionsOf(values, session))
    return answer({ report, print: printVolume, where: whereOf(values) })
  },
})
