// What keeps states alive: a root names a state, the records say what that one refers to, and all of it stays.
import { unreachable } from '../../../lib/errors.ts'
import type { StateName } from '../../names.ts'

export interface Root {
  readonly state: StateName
  readonly cause: RootCause
}

export type RootCause =
  | { readonly is: 'generation'; readonly generation: number; readonly current: boolean }
  | { readonly is: 'static' }
  /** A running or interrupted apply, or one that waits to be confirmed; it names both sides. */
  | { readonly is: 'journal'; readonly file: string }
  | { readonly is: 'temp-root'; readonly pid: number; readonly file: string }
  | { readonly is: 'process'; readonly pid: number; readonly name: string; readonly file: string }

/** One line, down to the pid and the file where there is one. */
export function describeRoot(cause: RootCause): string {
  switch (cause.is) {
    case 'generation':
      return `generation ${cause.generation}${cause.current ? ' (current)' : ''}`
    case 'static':
      return 'etc/static, which /etc leads through'
    case 'journal':
      return `an apply under way: ${cause.file}`
    case 'temp-root':
      return `process ${cause.pid} (cairn) prepares it: ${cause.file}`
    case 'process':
      return `process ${cause.pid} (${cause.name}): ${cause.file}`
    default:
      return unreachable(cause)
  }
}

export type References = (state: StateName) => readonly StateName[]

/** Adds to `marked` the states given and all that they lead to. */
export function mark(marked: Set<StateName>, from: Iterable<StateName>, references: References) {
  const open = [...from].filter(state => !marked.has(state))
  for (let state = open.pop(); state !== undefined; state = open.pop()) {
    if (marked.has(state)) continue
    marked.add(state)
    open.push(...references(state))
  }
}
