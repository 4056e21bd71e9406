// Where resources come from, before anything is read of them.
import type { Problem, SourceRange } from '../../lib/problem.ts'

export const encodings = ['yaml', 'json', 'jsonnet'] as const
export type Encoding = (typeof encodings)[number]

/** One file, one answer of a URL, or standard input. */
export interface Source {
  /** As given: a path, a URL, `stdin`. Stands as file in every Problem. */
  readonly name: string
  readonly content: string | Uint8Array
  /** Stated by whoever sent it; else name, content type and first character decide. */
  readonly encoding?: Encoding
  readonly contentType?: string
  /** The content was made by evaluating `name`: positions in it mean nothing to a person. */
  readonly evaluated?: boolean
}

/** One resource as it was written, not yet understood. */
export interface Document {
  /** Plain data: objects have no prototype keys of their own making, numbers are finite. */
  readonly value: unknown
  /** Over all sources, from 0; how a Problem names a resource without identity: `resources[3].metadata`. */
  readonly index: number
  /** As in Source. */
  readonly file: string
  /**
   * Where a field stands: path as lib/located-json.ts spells it, from the document's root ('' is the whole).
   * `key` gives the place of the key itself. A field that is not there gives its nearest parent.
   */
  locate(path: string, at?: 'key' | 'value'): SourceRange | undefined
  /** Paths from the root of which a Problem is told already: what stands there now is only the nearest guess. */
  readonly reported?: readonly string[]
}

export interface Documents {
  readonly documents: readonly Document[]
  readonly problems: readonly Problem[]
  readonly warnings: readonly Problem[]
}

/** All settable; these are the defaults. */
export interface Limits {
  readonly requestBytes: number
  readonly fileBytes: number
  readonly files: number
  readonly resources: number
  readonly depth: number
  readonly aliases: number
  readonly associations: number
  readonly secretBytes: number
  readonly problems: number
}

export const defaultLimits: Limits = {
  requestBytes: 10 * 2 ** 20,
  fileBytes: 2 * 2 ** 20,
  files: 200,
  resources: 5_000,
  depth: 64,
  aliases: 1_000,
  associations: 256,
  secretBytes: 64 * 2 ** 10,
  problems: 1_000,
}
