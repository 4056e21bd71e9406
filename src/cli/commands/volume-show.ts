import { answer, command } from '../command.ts'
import { contentGroup, contentOptions, contentOptionsOf } from '../content.ts'
import { whereOf } from '../node.ts'
import { required, text } from '../parameter.ts'

export const volumeShow = command({
  name: 'volume show',
  group: contentGroup,
  nature: 'question',
  summary: 'one volume: where it is, what it is made of, what it waits for',
  description: ['With the content it is made from, blob by blob.'],
  args: { name: required(text('NAME', 'as given to volume create')) },
  options: contentOptions,
  examples: [{ line: 'cairn volume show web', about: '' }],
  run: async (values, session) => {
    const { showVolume } = await import('../../volumes/node.ts')
    const { printVolume } = await import('../views/volume.ts')
    const report = await showVolume(values.name, contentOptionsOf(values, session))
    return answer({ report, print: printVolume, where: whereOf(values) })
  },
})
