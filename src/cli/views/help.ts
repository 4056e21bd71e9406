// Help at each level, from the values that describe the commands: all commands, one family, one command, the exit codes.
import { type Cell, columns, wrap } from '../../lib/columns.ts'
import type { Style } from '../../lib/style.ts'
import { type Answer, answer, type Catalogue, type Command, type Example, type Topic } from '../command.ts'
import { everywhere, helpOption, versionOption } from '../everywhere.ts'
import { exitCodes } from '../exit.ts'
import { argumentSpelling, flagsOf, type Parameter, type Parameters } from '../parameter.ts'

const tagline = 'Cairn brings machines to the state that their owners declared, and keeps them there.'

const firstExamples: readonly Example[] = [
  { line: 'cairn node plan -f overlay.json --root ./try', about: 'what would change, tried below a directory' },
  { line: 'cairn node apply -f overlay.json', about: 'make it so on this machine' },
  { line: 'cairn node rollback', about: 'go back to the generation before' },
]

/** `about` is '' for all, else a topic, a command, or `exit-codes`; it must be known. */
export function helpAnswer(catalogue: Catalogue, about: string): Answer {
  if (about === 'exit-codes') return answer({ report: exitCodes, print: (_, style) => printExitCodes(style) })
  const { commands, topics } = catalogue
  const command = commands.find(({ name }) => name === about)
  if (command) return answer({ report: command, print: printCommandHelp, json: described(command) })
  const topic = topics.find(({ name }) => name === about)
  const members = topic ? commands.filter(({ name }) => name.startsWith(`${topic.name} `)) : commands
  return {
    exit: 0,
    json: { commands: members.map(described) },
    text: style => (topic ? printTopicHelp(topic, members, style) : printAllHelp(catalogue, style)),
  }
}

function printAllHelp({ commands }: Catalogue, style: Style): string {
  const groups = [...new Set(commands.map(({ group }) => group))]
  const nameWidth = Math.max(...commands.map(found => usageWords(found).length))
  return joined([
    [tagline],
    ['Usage: cairn COMMAND [OPTIONS]'],
    ...groups.map(group =>
      titled(
        group,
        commandRows(
          commands.filter(found => found.group === group),
          nameWidth,
        ),
        style,
      ),
    ),
    titled('Everywhere', parameterRows({ ...everywhere, ...helpOption, ...versionOption }), style),
    titled('Examples', exampleRows(firstExamples), style),
    ['More: cairn help COMMAND, cairn help exit-codes'],
  ])
}

function printTopicHelp(topic: Topic, members: readonly Command[], style: Style): string {
  return joined([
    [`Usage: cairn ${topic.name} COMMAND [OPTIONS]`],
    ...paragraphs(topic.description, style),
    titled('Commands', commandRows(members), style),
    titled('Examples', exampleRows(topic.examples), style),
    [`More: cairn ${topic.name} COMMAND --help`],
  ])
}

function printCommandHelp(command: Command, style: Style): string {
  return joined([
    [usageLine(command)],
    ...paragraphs(command.description, style),
    titled('Arguments', parameterRows(command.args), style),
    titled('Options', parameterRows(command.options), style),
    titled('Everywhere', parameterRows({ ...everywhere, ...helpOption }), style),
    titled('Examples', exampleRows(command.examples), style),
  ])
}

function printExitCodes(style: Style): string {
  return columns(
    Object.entries(exitCodes).map(([code, meaning]) => [code.padStart(2), meaning]),
    style,
    '',
  ).join('\n')
}

export function usageLine(command: Command): string {
  const needed = Object.values(command.options)
    .filter(({ required }) => required)
    .map(flagsOf)
    .map(({ short, long, metavar }) => `${short ?? long} ${metavar}`)
  return ['Usage: cairn', usageWords(command), ...needed, '[OPTIONS]'].join(' ')
}

const usageWords = ({ name, args }: Command): string => [name, ...Object.values(args).map(argumentSpelling)].join(' ')

const commandRows = (commands: readonly Command[], nameWidth = 0): Cell[][] =>
  commands.map(command => [usageWords(command).padEnd(nameWidth), command.summary])

const parameterRows = (parameters: Parameters): Cell[][] =>
  Object.values(parameters).map(parameter => [indentedSpelling(parameter), aboutOf(parameter)])

/** Long options stand below each other, whether they have a short one or not. */
const indentedSpelling = ({ spelling }: Parameter): string => (spelling.startsWith('--') ? `    ${spelling}` : spelling)

function aboutOf({ about, completes }: Parameter): string {
  return typeof completes === 'string' ? about : `${about}: ${completes.join(', ')}`
}

const exampleRows = (examples: readonly Example[]): Cell[][] =>
  examples.map(({ line, about }) => [line, { text: about, tone: 'dim' }])

const paragraphs = (texts: readonly string[], style: Style): string[][] =>
  texts.map(text => wrap(text, Math.min(style.width, 100)))

function titled(title: string, rows: readonly Cell[][], style: Style): string[] {
  return rows.length === 0 ? [] : [style.paint('strong', title), ...columns(rows, style)]
}

/** Blocks with an empty line between them; empty blocks are left out. */
const joined = (blocks: readonly string[][]): string =>
  blocks
    .filter(block => block.length > 0)
    .map(block => block.join('\n'))
    .join('\n\n')

function described({ name, group, summary, description, args, options, examples }: Command) {
  const parameters = (list: Parameters) =>
    Object.values(list).map(({ spelling, about, required, repeats }) => ({ spelling, about, required, repeats }))
  return { name, group, summary, description, args: parameters(args), options: parameters(options), examples }
}
