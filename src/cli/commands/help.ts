import { didYouMean } from '../../lib/suggest.ts'
import { command } from '../command.ts'
import { list, text } from '../parameter.ts'
import { UsageError } from '../usage.ts'

export const help = command({
  name: 'help',
  group: 'Shell and reference',
  nature: 'question',
  summary: 'explain a command, or the exit codes',
  description: ['The same as --help after the command. cairn help exit-codes lists what the exit codes mean.'],
  args: { words: list(text('COMMAND', 'the words of a command, or exit-codes')) },
  examples: [
    { line: 'cairn help node apply', about: 'one command' },
    { line: 'cairn help exit-codes', about: 'what a script gets' },
  ],
  run: async ({ words = [] }, { catalogue }) => {
    const { helpAnswer } = await import('../views/help.ts')
    const about = words.join(' ')
    const known = ['', 'exit-codes', ...[...catalogue.commands, ...catalogue.topics].map(({ name }) => name)]
    if (known.includes(about)) return helpAnswer(catalogue, about)
    throw new UsageError('usage.unknown-command', `unknown command "${about}"`, {
      hint: didYouMean(about, known) ?? 'See: cairn --help',
    })
  },
})
