// What a command takes: options and arguments as static values, each with the function that reads its text. Help, completion,
// docs and the parser are all made from them.
import { durationOrProblem } from '../lib/duration.ts'
import type { Problem } from '../lib/problem.ts'
import { sizeOrProblem } from '../lib/size.ts'
import { didYouMean } from '../lib/suggest.ts'

export interface Parameter<Value = unknown, Required extends boolean = boolean> {
  /** An option as in `-f, --file FILE`, `--keep N`, `--json`; an argument as in `STATE`. */
  readonly spelling: string
  readonly about: string
  readonly required: Required
  /** May be given more than once; the value is then a list. */
  readonly repeats: boolean
  readonly completes: Completes
  /** Absent for an option that takes no value. */
  readonly read?: (text: string) => Scalar | Problem
  /** Never set: carries the type of the value. */
  readonly '~value'?: Value
}

export type Completes = 'nothing' | 'file' | 'directory' | readonly string[]
export type Parameters = Readonly<Record<string, Parameter>>

/** What a parsed command line gives: required parameters always, the others only when given. */
export type Values<P extends Parameters> = {
  readonly [K in keyof P as P[K] extends Parameter<unknown, true> ? K : never]: ValueOf<P[K]>
} & {
  readonly [K in keyof P as P[K] extends Parameter<unknown, true> ? never : K]?: ValueOf<P[K]>
}

type Scalar = string | number
type ValueOf<P> = P extends Parameter<infer Value> ? Value : never

export const flag = (spelling: string, about: string): Parameter<true, false> => plain(spelling, about)

export const text = (spelling: string, about: string, completes: Completes = 'nothing'): Parameter<string, false> => ({
  ...plain(spelling, about),
  completes,
  read: given => given,
})

export const choice = <const Choice extends string>(
  spelling: string,
  about: string,
  choices: readonly Choice[],
): Parameter<Choice, false> => ({
  ...plain(spelling, about),
  completes: choices,
  read: given => choices.find(choice => choice === given) ?? unknownChoice(given, choices),
})

export const count = (spelling: string, about: string, least = 0): Parameter<number, false> => ({
  ...plain(spelling, about),
  read: given => countOrProblem(given, least),
})

export const duration = (spelling: string, about: string): Parameter<number, false> => ({
  ...plain(spelling, about),
  read: given => durationOrProblem(given, ''),
})

export const size = (spelling: string, about: string): Parameter<number, false> => ({
  ...plain(spelling, about),
  read: given => sizeOrProblem(given, ''),
})

const plain = (spelling: string, about: string) =>
  ({ spelling, about, required: false, repeats: false, completes: 'nothing' }) as const

export const required = <Value>(parameter: Parameter<Value>): Parameter<Value, true> => ({
  ...parameter,
  required: true,
})

export const list = <Value>(parameter: Parameter<Value, false>): Parameter<readonly Value[], false> => {
  const { '~value': _, ...rest } = parameter
  return { ...rest, repeats: true }
}

export interface Flags {
  readonly short?: string
  readonly long: string
  /** `FILE` in `-f, --file FILE`; absent for an option without value. */
  readonly metavar?: string
}

export function flagsOf({ spelling }: Parameter): Flags {
  const words = spelling.split(/,? /)
  const [long = '', short] = words.filter(word => word.startsWith('-')).toReversed()
  const metavar = words.find(word => !word.startsWith('-'))
  return { long, ...(short ? { short } : {}), ...(metavar ? { metavar } : {}) }
}

/** `STATE`, `[ID]`, `[COMMAND...]` */
export const argumentSpelling = ({ spelling, required, repeats }: Parameter): string => {
  const name = repeats ? `${spelling}...` : spelling
  return required ? name : `[${name}]`
}

function countOrProblem(given: string, least: number): number | Problem {
  const number = /^\d+$/.test(given) ? Number(given) : Number.NaN
  if (Number.isSafeInteger(number) && number >= least) return number
  return { code: 'number.invalid', path: '', reason: `"${given}" is not a whole number from ${least} on` }
}

function unknownChoice(given: string, choices: readonly string[]): Problem {
  const hint = didYouMean(given, choices) ?? `One of: ${choices.join(', ')}.`
  return { code: 'choice.unknown', path: '', reason: `"${given}" is not known`, hint }
}
