// What the parts of the verifier share.
import type { ProcessContext } from '../process/context.ts'
import type { Bulk } from './bulk.ts'

export interface Tools extends Omit<ProcessContext, 'signal'> {
  readonly bulk: Bulk
  /** The only one whose files in pending/ are read; not checked when it is not known. */
  readonly downloaderUid?: number | undefined
}

/** Given to each piece of work that takes a while. */
export interface Watch {
  readonly signal: AbortSignal
  readonly onProgress: (bytes: number) => void
}
