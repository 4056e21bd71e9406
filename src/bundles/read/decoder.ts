// What an encoding has to say of itself and to do. A new encoding is one more decoder in encoding.ts.
import type { Problem, SourceRange } from '../../lib/problem.ts'
import type { Document, Encoding, Limits } from '../model/source.ts'

export interface Decoder {
  readonly name: Encoding
  /** With the dot, lower case. */
  readonly extensions: readonly string[]
  readonly contentTypes: readonly string[]
  /** By the first character that is no space; called only when nothing else tells the encoding. */
  sniff(first: string): boolean
  /** In the order of the text, and no further than it is asked. */
  decode(text: Text): Iterable<Found>
}

/** One source as a decoder sees it: without byte order mark, and not blank. */
export interface Text {
  readonly file: string
  readonly text: string
  readonly limits: Pick<Limits, 'depth' | 'problems'>
  /** Shared by all sources of one read. */
  readonly aliases: AliasBudget
  /** Undefined where places mean nothing to a person. */
  placeOf(offset: number): SourceRange | undefined
}

export interface AliasBudget {
  left: number
}

/** Paths in the problems of a resource are from its root. */
export type Found =
  | {
      readonly is: 'resource'
      readonly value: unknown
      readonly problems: readonly Problem[]
      readonly locate: Document['locate']
    }
  /** It takes a place in the count of resources, so that those after it keep their number. */
  | { readonly is: 'broken resource'; readonly problems: readonly Problem[] }
  | { readonly is: 'unreadable'; readonly problems: readonly Problem[] }
