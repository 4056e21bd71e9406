// Large data goes past `Files`: blocks are read and written by the thread pool while the process hashes and answers, which
// calls that wait could not do. Opening, looking at and closing a file stay with `Files`.
import * as fs from 'node:fs'
import { promisify } from 'node:util'

export interface Bulk {
  /** From where the last read ended; 0 at the end of the file. */
  read(fd: number, into: Buffer): Promise<number>
  /** All of it, after what was written last. */
  write(fd: number, bytes: Buffer): Promise<void>
  /** Bytes that an ordinary user may still write to the file system of this path. */
  free(path: string): Promise<number>
}

const read = promisify(fs.read)
const write = promisify(fs.write)

export const realBulk: Bulk = {
  read: async (fd, into) => (await read(fd, into, 0, into.length, null)).bytesRead,
  write: async (fd, bytes) => {
    for (let at = 0; at < bytes.length; ) at += (await write(fd, bytes, at, bytes.length - at, null)).bytesWritten
  },
  free: async path => {
    const { bavail, bsize } = await fs.promises.statfs(path)
    return bavail * bsize
  },
}
