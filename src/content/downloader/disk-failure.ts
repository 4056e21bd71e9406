// A failure of this machine's disk, apart from those of the network: no other source helps, only time or a person.
import { isErrno, messageOf } from '../../lib/errors.ts'
import { redact } from '../../lib/redact.ts'
import type { Failure } from '../content-error.ts'

export class DiskFailure extends Error {
  readonly failure: Failure

  constructor(cause: unknown) {
    const failure = failureOf(cause)
    super(failure.text, { cause })
    this.name = 'DiskFailure'
    this.failure = failure
  }
}

function failureOf(cause: unknown): Failure {
  if (isErrno(cause, 'ENOSPC', 'EDQUOT'))
    return { code: 'content.no-space', text: 'there is no room left for the download; what came so far is kept' }
  return { code: 'content.write-failed', text: `the download cannot be written: ${redact(messageOf(cause))}` }
}

/** Names whatever fails in it a failure of the disk. */
export async function onDisk<Result>(act: () => Result | Promise<Result>): Promise<Result> {
  try {
    return await act()
  } catch (error) {
    throw error instanceof DiskFailure ? error : new DiskFailure(error)
  }
}
