import { answer, command } from '../command.ts'
import { contentGroup, contentOptions, contentOptionsOf } from '../content.ts'
import { whereOf } from '../node.ts'

export const volumeList = command({
  name: 'volume list',
  group: contentGroup,
  nature: 'question',
  summary: 'the volumes of this machine',
  description: [
    'Those that somebody asks for, and those that were found and that nobody claims, with the time they go.',
  ],
  options: contentOptions,
  examples: [{ line: 'cairn volume list', about: 'also: cairn volume ls' }],
  run: async (values, session) => {
    const { listVolumes } = await import('../../volumes/node.ts')
    const { printVolumes } = await import('../views/volume.ts')
    const report = await listVolumes(contentOptionsOf(values, session))
    return answer({ report, print: printVolumes, json: { volumes: report }, where: whereOf(values) })
  },
})
