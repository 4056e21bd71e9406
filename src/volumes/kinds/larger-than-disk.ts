// A disk with holes may promise more than there is, but not more than there could ever be.
import { statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { largerThanDisk } from './failures.ts'

export async function refuseLargerThanDisk(target: string, size: number): Promise<void> {
  const { blocks, bsize } = await statfs(dirname(target))
  if (size > blocks * bsize) throw largerThanDisk(size, blocks * bsize)
}
