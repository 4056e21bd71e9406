import { answer, command } from '../command.ts'
import { flag, list, required, text } from '../parameter.ts'
import { bundleGroup, serverOptions } from '../server.ts'

export const get = command({
  name: 'get',
  group: bundleGroup,
  nature: 'question',
  summary: 'live resources of a kind, or one of them',
  description: ['A table of all, or one as YAML with its status. NAME is the display name, or an id.'],
  args: { kind: required(text('KIND', 'which kind')), name: text('NAME', 'which one') },
  options: {
    label: list(text('--label LABEL', 'only with this label; may be given again')),
    wide: flag('--wide', 'more columns'),
    ...serverOptions,
  },
  examples: [
    { line: 'cairn get Machine', about: 'all machines' },
    { line: 'cairn get Volume data', about: 'one volume' },
    { line: 'cairn get Machine --label edge --json', about: 'for programs' },
  ],
  run: async values => {
    const { getResources } = await import('../resource-commands.ts')
    const { printResource, printResources } = await import('../views/resources.ts')
    const found = await getResources(values)
    const { kind, resources } = found
    const [only] = resources
    if (values.name !== undefined && resources.length === 1 && only)
      return answer({ report: only, print: printResource })
    return {
      exit: 0,
      json: { resources },
      text: style => printResources({ kind, resources, wide: values.wide === true }, style),
    }
  },
})
