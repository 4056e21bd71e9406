import { planOptions, sourceOptions, valueOptions } from '../bundle-input.ts'
import { answer, command } from '../command.ts'
import { flag } from '../parameter.ts'
import { bundleGroup, serverOptions } from '../server.ts'

export const validate = command({
  name: 'validate',
  group: bundleGroup,
  nature: 'question',
  summary: 'check a bundle: every problem at once, with its place',
  description: [
    'Reads all files as one bundle and says everything that is wrong with it, by file, line and column, with a hint. Nothing is changed, and nothing live is looked at.',
    'The server checks by the kinds it has; with --offline this program does, and no server is needed.',
  ],
  options: {
    ...sourceOptions,
    ...valueOptions,
    skip: planOptions.skip,
    offline: flag('--offline', 'without a server'),
    ...serverOptions,
  },
  examples: [
    { line: 'cairn validate -f fleet/', about: 'a directory' },
    { line: 'cairn validate --offline -f web.yaml', about: 'no server needed' },
    { line: 'cairn validate -f -', about: 'standard input' },
  ],
  run: async (values, session) => {
    const { validateBundle } = await import('../bundle-commands.ts')
    const { exitOfValidation, printValidation } = await import('../views/validation.ts')
    const report = await validateBundle(values, session)
    return answer({ report, print: printValidation, exit: exitOfValidation(report) })
  },
})
