// Handles of node:fs/promises, for what is too large for the Files port: it would hold up the process.
import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'

/** Follows no link; what it makes is for its owner alone. */
export async function withFile<T>(path: string, flags: number, use: (file: FileHandle) => Promise<T>): Promise<T> {
  const file = await open(path, flags | constants.O_NOFOLLOW, 0o600)
  try {
    return await use(file)
  } finally {
    await file.close()
  }
}

export async function writeAll(file: FileHandle, bytes: Uint8Array, at: number): Promise<void> {
  for (let done = 0; done < bytes.length; )
    done += (await file.write(bytes, done, bytes.length - done, at + done)).bytesWritten
}
