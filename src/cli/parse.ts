// From a command line to what it asks for. Commander reads it; this is the one place that knows commander.
import { Command as Commander, CommanderError, Option } from 'commander'
import type { ProblemCode } from '../lib/problem.ts'
import type { Catalogue, Command } from './command.ts'
import { everywhere } from './everywhere.ts'
import { argumentSpelling, flagsOf, type Parameter, type Parameters, type Values } from './parameter.ts'
import { UsageError } from './usage.ts'

export type Request =
  | { readonly do: 'help'; readonly about: string }
  | {
      readonly do: 'run'
      readonly command: Command
      readonly values: Readonly<Record<string, unknown>>
      readonly everywhere: Values<typeof everywhere>
    }

/** Throws a UsageError. */
export function parseCommandLine(argv: readonly string[], catalogue: Catalogue): Request {
  let request: Request | null = null
  const program = new Commander('cairn')
    .exitOverride()
    .helpCommand(false)
    .configureOutput({ writeOut() {}, writeErr() {} })
    .configureHelp({
      formatHelp: asked => {
        request = { do: 'help', about: nameOf(asked) }
        return ''
      },
    })
  addOptions(program, everywhere)
  for (const { name } of catalogue.topics) program.command(name)
  for (const command of catalogue.commands) {
    const leaf = addCommand(program, command)
    leaf.action(() => {
      const values = { ...argumentValues(leaf, command), ...optionValues(leaf, command.name, command.options) }
      request = { do: 'run', command, values, everywhere: optionValues(program, '', everywhere) }
    })
  }
  try {
    program.parse(argv, { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    if (!request) throw usageErrorOf(error, argv, catalogue)
  }
  return request ?? { do: 'help', about: '' }
}

function addCommand(program: Commander, command: Command): Commander {
  const words = command.name.split(' ')
  const leaf = words.reduce((at, word) => at.commands.find(found => found.name() === word) ?? at.command(word), program)
  if (words.at(-1) === 'list') leaf.alias('ls')
  for (const { spelling, repeats } of Object.values(command.args)) leaf.argument(`[${spelling}${repeats ? '...' : ''}]`)
  return addOptions(leaf, command.options)
}

function addOptions(at: Commander, options: Parameters): Commander {
  for (const parameter of Object.values(options)) {
    const option = new Option(commanderFlags(parameter))
    const { read, repeats } = parameter
    if (read)
      option.argParser((given: string, before: unknown) => {
        const value = readValue(parameter, flagsOf(parameter).long, given)
        return repeats ? [...((before as unknown[] | undefined) ?? []), value] : value
      })
    at.addOption(option)
  }
  return at
}

function commanderFlags(parameter: Parameter): string {
  const { short, long, metavar } = flagsOf(parameter)
  return `${short ? `${short}, ` : ''}${long}${metavar ? ` <${metavar}>` : ''}`
}

function optionValues<P extends Parameters>(at: Commander, name: string, options: P): Values<P> {
  const given = Object.entries(options).flatMap(([key, parameter]) => {
    const option = new Option(commanderFlags(parameter))
    const value: unknown = at.getOptionValue(option.attributeName())
    // Commander turns --no-x into x: false, and x: true when it is not there.
    if (option.negate) return value === false ? [[key, true]] : []
    if (value !== undefined) return [[key, value]]
    if (!parameter.required) return []
    throw new UsageError('usage.missing-option', `cairn ${name} needs ${parameter.spelling}`, seeHelp(name))
  })
  return Object.fromEntries(given) as Values<P>
}

function argumentValues(leaf: Commander, { name, args }: Command): Record<string, unknown> {
  const given = Object.entries(args).flatMap(([key, parameter], index) => {
    const texts = parameter.repeats ? leaf.args.slice(index) : leaf.args.slice(index, index + 1)
    const values = texts.map(text => readValue(parameter, parameter.spelling, text))
    if (values.length > 0) return [[key, parameter.repeats ? values : values[0]]]
    if (!parameter.required) return []
    const wanted = argumentSpelling(parameter)
    throw new UsageError('usage.missing-argument', `cairn ${name} needs ${wanted}: ${parameter.about}`, seeHelp(name))
  })
  return Object.fromEntries(given)
}

function readValue(parameter: Parameter, name: string, given: string): string | number {
  const value = parameter.read?.(given) ?? given
  if (typeof value !== 'object') return value
  throw new UsageError('usage.bad-value', `${name}: ${value.reason}`, value.hint ? { hint: value.hint } : {})
}

interface Fault {
  readonly code: ProblemCode
  say(quoted: string, message: string): string
}

const faults: Readonly<Record<string, Fault>> = {
  'commander.unknownOption': { code: 'usage.unknown-option', say: quoted => `unknown option "${quoted}"` },
  'commander.unknownCommand': { code: 'usage.unknown-command', say: quoted => `unknown command "${quoted}"` },
  'commander.optionMissingArgument': {
    code: 'usage.missing-value',
    say: quoted => `${quoted.replace(/[<>]/g, '')} needs a value`,
  },
  // Not which: one of them may be the secret of `cairn secret set`.
  'commander.excessArguments': {
    code: 'usage.too-many-arguments',
    say: (_, message) => message.replace(/(but got \d+).*/s, '$1'),
  },
}

/** Commander's messages quote what they are about, and may end in "(Did you mean …?)" on a line of its own. */
function usageErrorOf(error: CommanderError, argv: readonly string[], catalogue: Catalogue): UsageError {
  const [message = '', suggestion = ''] = error.message.replace(/^error: /, '').split('\n')
  const quoted = /'(.*?)'/.exec(message)?.[1] ?? ''
  const { code, say } = faults[error.code] ?? { code: 'usage.invalid', say: () => message }
  const elsewhere = catalogue.commands.find(({ name }) => name.endsWith(` ${quoted}`))
  const hint =
    code === 'usage.unknown-command' && elsewhere
      ? `did you mean "cairn ${elsewhere.name}"?`
      : suggestion.replace(/^\(D(.*)\)$/, 'd$1') || seeHelp(nameIn(argv, catalogue)).hint
  return new UsageError(code, say(quoted, message), { hint })
}

const seeHelp = (name: string) => ({ hint: `See: cairn ${name ? `${name} ` : ''}--help` })

/** As far as the words lead to a command or a topic. */
function nameIn(argv: readonly string[], { commands, topics }: Catalogue): string {
  const words = argv.filter(word => !word.startsWith('-'))
  const known = new Set([...commands, ...topics].map(({ name }) => name))
  return [words.slice(0, 2).join(' '), words[0] ?? ''].find(name => known.has(name)) ?? ''
}

function nameOf(asked: Commander): string {
  return asked.parent ? `${nameOf(asked.parent)} ${asked.name()}`.trim() : ''
}
