// Hashes a verified file again. A disk forgets; what it forgot is not handed out.
import { constants } from 'node:fs'
import { isErrno } from '../../lib/errors.ts'
import type { Sha256 } from '../messages.ts'
import { copyHashing } from './copy.ts'
import { bitRot, type Setback } from './setback.ts'
import type { Tools, Watch } from './tools.ts'
import { type FileMark, markOf } from './verified-file.ts'

/** `rot`: not there, not a plain file, not readable any more, or other bytes than its name says. */
export type CheckOutcome = { readonly mark: FileMark; readonly checkedAt: string } | { readonly rot: Setback }

type Checking = Pick<Tools, 'files' | 'bulk' | 'clock'>

/** Throws what may pass: a want of descriptors or of rights, and the reason of the signal. */
export async function checkFile(
  { files, bulk, clock }: Checking,
  { path, sha256 }: { path: string; sha256: Sha256 },
  watch: Watch,
): Promise<CheckOutcome> {
  try {
    const fd = files.open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    try {
      const stats = files.fstat(fd)
      const checkedAt = clock.now().toISOString()
      if (!stats.isFile()) return { rot: bitRot('the verified file is not a plain file any more') }
      const found = await copyHashing(bulk, { from: fd, to: null, limit: stats.size, ...watch })
      if (found.sha256 === sha256) return { mark: markOf(stats), checkedAt }
      return {
        rot: bitRot(`the verified file has changed on the disk: its sha256 is ${found.sha256 ?? 'of more bytes'}`),
      }
    } finally {
      files.close(fd)
    }
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ELOOP', 'EIO'))
      return { rot: bitRot('the verified file is gone or cannot be read any more') }
    throw error
  }
}
