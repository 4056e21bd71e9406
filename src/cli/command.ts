// A command as a value. Its description is static data that help, completion and docs read without importing what it does;
// `run` imports that when it is called.
import type { Progress } from '../lib/progress.ts'
import { withoutControlsDeep } from '../lib/redact.ts'
import type { Style } from '../lib/style.ts'
import type { Terminal } from '../lib/terminal.ts'
import type { ExitCode } from './exit.ts'
import type { Parameters, Values } from './parameter.ts'

export interface Command {
  /** The words after `cairn`: `node apply`. */
  readonly name: string
  /** The heading it stands under in `cairn --help`. */
  readonly group: string
  /** One line, lower case, no full stop. */
  readonly summary: string
  /** Paragraphs. */
  readonly description: readonly string[]
  /** In the order in which they are given. */
  readonly args: Parameters
  readonly options: Parameters
  readonly examples: readonly Example[]
  readonly nature: Nature
  run(values: Readonly<Record<string, unknown>>, session: Session): Promise<Answer>
}

/**
 * question: changes nothing; --quiet leaves its answer standing.
 * store: changes only what no running unit sees.
 * server: changes the control plane, which finishes or undoes by itself.
 * machine: changes /etc and units, in a journal; a lost terminal does not stop it.
 * service: runs until it is stopped, prints and handles signals itself.
 */
export type Nature = 'question' | 'store' | 'server' | 'machine' | 'service'

export interface Example {
  readonly line: string
  readonly about: string
}

/** The first word of a family of commands: `node`. */
export interface Topic {
  readonly name: string
  readonly summary: string
  readonly description: readonly string[]
  readonly examples: readonly Example[]
}

/** All there is, as help, completion and docs see it. */
export interface Catalogue {
  readonly commands: readonly Command[]
  readonly topics: readonly Topic[]
}

/** What a command gets besides its values. */
export interface Session {
  readonly argv: readonly string[]
  readonly catalogue: Catalogue
  readonly terminal: Terminal
  readonly progress: Progress
  readonly json: boolean
}

/** What a command gives back: the same value for people and for programs. */
export interface Answer {
  readonly exit: ExitCode
  /** Without the last line feed; '' prints nothing. */
  text(style: Style): string
  readonly json: unknown
}

/** Ties the type of `run`'s values to the parameters. */
export function command<A extends Parameters, O extends Parameters>(
  description: Omit<Command, 'run' | 'args' | 'options'> & {
    readonly args?: A
    readonly options?: O
    run(values: Values<A> & Values<O>, session: Session): Promise<Answer>
  },
): Command {
  const { run } = description
  return {
    ...description,
    args: description.args ?? {},
    options: description.options ?? {},
    // The parser makes the values from these very parameters.
    run: (values, session) => run(values as Values<A> & Values<O>, session),
  }
}

/** What came from outside loses its control characters before the view sees it; JSON escapes them itself. */
export function answer<Report>(parts: {
  readonly report: Report
  readonly print: (report: Report, style: Style) => string
  /** Where programs get another shape than the view. */
  readonly json?: unknown
  readonly exit?: ExitCode
  /** See Style.where. */
  readonly where?: string
}): Answer {
  const { report, print, json = report, exit = 0, where = '' } = parts
  return { exit, json, text: style => print(withoutControlsDeep(report), { ...style, where }) }
}
