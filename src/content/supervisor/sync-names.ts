// Makes files durable for a process that may not do it itself. Asynchronous, so that many of them wait for the disk at once.
import { constants } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { CairnError, isErrno, messageOf } from '../../lib/errors.ts'
import { slots } from '../../lib/slots.ts'
import type { CallArgs } from '../process/supervisor-calls.ts'
import { directoryFlags, openBelow, openIn } from './open-below.ts'

/** Descriptors that one call holds open. */
const atOnce = 16

export async function syncNames(own: readonly string[], { directory, names }: CallArgs<'sync'>): Promise<void> {
  try {
    const handle = await openBelow(own, directory, directoryFlags)
    try {
      const inTurn = slots(atOnce)
      await Promise.all(names.map(name => inTurn(() => syncName(handle, name))))
      await handle.sync()
    } finally {
      await handle.close()
    }
  } catch (cause) {
    if (cause instanceof CairnError) throw cause
    const code = isErrno(cause, 'ENOSPC', 'EDQUOT') ? 'disk.full' : 'sync.failed'
    throw new CairnError(code, `${directory} cannot be made durable: ${messageOf(cause)}`, { cause })
  }
}

async function syncName(directory: FileHandle, name: string): Promise<void> {
  const handle = await openIn(directory, name, constants.O_RDONLY)
  try {
    const stats = await handle.stat()
    if (!stats.isFile() && !stats.isDirectory()) throw new CairnError('call.refused', `${name} is no regular file`)
    await handle.sync()
  } finally {
    await handle.close()
  }
}
