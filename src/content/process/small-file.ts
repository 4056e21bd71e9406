// A small file as a whole, old or new at every moment, also over a power cut; the supervisor does the syncing.
import { constants } from 'node:fs'
import { join } from 'node:path'
import { removeIfThere } from '../../lib/durable.ts'
import { halfMadeName } from '../half-made.ts'
import type { ProcessContext } from './context.ts'

export interface SmallFile {
  /** Exists. */
  readonly directory: string
  readonly name: string
  readonly text: string
  readonly mode: number
}

type Writing = Pick<ProcessContext, 'files' | 'durability' | 'random'>

/** On disk when it resolves. */
export async function writeSmallFile({ files, durability, random }: Writing, file: SmallFile): Promise<void> {
  const { directory, name, text, mode } = file
  const temporary = halfMadeName(name, random)
  const path = join(directory, temporary)
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW
  const fd = files.open(path, flags, mode)
  try {
    try {
      files.write(fd, Buffer.from(text))
    } finally {
      files.close(fd)
    }
    await durability.sync(directory, [temporary])
    files.rename(path, join(directory, name))
  } catch (error) {
    removeIfThere(files, path)
    throw error
  }
  await durability.sync(directory, [])
}
