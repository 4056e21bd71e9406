// What can stand where on a command line: for each place that words lead to, the words and options that may come next.
// The three shells' scripts are written from this.
import type { Catalogue, Command } from '../command.ts'
import { everywhere, helpOption, versionOption } from '../everywhere.ts'
import { type Completes, type Flags, flagsOf, type Parameters } from '../parameter.ts'

export interface Spot {
  /** The words that lead here: '' after `cairn`, `node`, `node apply`. */
  readonly at: string
  readonly words: readonly Word[]
  readonly options: readonly SpotOption[]
}

interface Word {
  readonly word: string
  readonly about: string
}

export interface SpotOption extends Flags {
  readonly about: string
  readonly completes: Completes
}

export function spotsOf({ commands, topics }: Catalogue): Spot[] {
  const first: Word[] = [
    ...commands.filter(({ name }) => !name.includes(' ')).map(({ name, summary }) => ({ word: name, about: summary })),
    ...topics.map(({ name, summary }) => ({ word: name, about: summary })),
  ]
  return [
    { at: '', words: first.toSorted(byWord), options: [...common, ...optionsOf(versionOption)] },
    ...topics.map(topic => ({ at: topic.name, words: membersOf(topic.name, commands), options: common })),
    ...commands.map(command => ({
      at: command.name,
      words: choicesOf(command),
      options: [...optionsOf(command.options), ...common],
    })),
  ]
}

/** Options after which the next word is a value, whatever the command. */
export function valueOptions(spots: readonly Spot[]): Map<string, Completes> {
  const found = spots.flatMap(({ options }) => options).filter(({ metavar }) => metavar)
  return new Map(
    found.flatMap(({ short, long, completes }) => [...(short ? [short] : []), long].map(name => [name, completes])),
  )
}

const common = optionsOf({ ...everywhere, ...helpOption })

function optionsOf(parameters: Parameters): SpotOption[] {
  return Object.values(parameters).map(parameter => ({
    ...flagsOf(parameter),
    about: parameter.about,
    completes: parameter.completes,
  }))
}

const byWord = (a: Word, b: Word) => (a.word < b.word ? -1 : 1)

function membersOf(topic: string, commands: readonly Command[]): Word[] {
  return commands
    .filter(({ name }) => name.startsWith(`${topic} `))
    .map(({ name, summary }) => ({ word: name.slice(topic.length + 1), about: summary }))
    .toSorted(byWord)
}

function choicesOf({ args }: Command): Word[] {
  return Object.values(args).flatMap(({ completes }) =>
    typeof completes === 'string' ? [] : completes.map(word => ({ word, about: '' })),
  )
}
