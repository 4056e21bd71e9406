// The images that the directory runtime has taken in: blobs/<sha256>, each once, and a record for each image, written last.
// A blob that no record names is garbage, and goes with the next image that goes.
import { join } from 'node:path'
import * as z from 'zod'
import { type Sha256, sha256Schema } from '../../../content/messages.ts'
import type { ManagerContext } from '../../../content/process/calls.ts'
import { makeDirectories, removeIfThere } from '../../../lib/durable.ts'
import { canonicalJson, sha256Hex } from '../../../lib/json.ts'
import { slots } from '../../../lib/slots.ts'
import { writeNew } from '../../../lib/write-new.ts'
import { copyImage } from '../../kinds/copy.ts'
import { verifiedPath } from '../image.ts'
import type { LoadRequest } from '../runtime.ts'

export interface ImageShelf {
  has(name: string): boolean
  put(image: LoadRequest): Promise<void>
  take(name: string): Promise<void>
  pathOf(sha256: Sha256): string
}

const recordSchema = z.strictObject({ version: z.literal(1), name: z.string(), blobs: z.array(sha256Schema) })
type Record = z.infer<typeof recordSchema>

export function imageShelf({ files, layout, durability }: ManagerContext): ImageShelf {
  const shelf = join(layout.manager, 'images')
  const blobs = join(shelf, 'blobs')
  // A blob must not go between its copy and the record that names it.
  const oneAtATime = slots(1)
  const recordName = (name: string) => `${sha256Hex(name)}.json`
  const pathOf = (sha256: Sha256) => join(blobs, sha256)

  const read = (file: string): Record | null => {
    if (!files.lstat(join(shelf, file))) return null
    try {
      return recordSchema.safeParse(JSON.parse(files.readFile(join(shelf, file)).toString('utf8'))).data ?? null
    } catch {
      return null
    }
  }
  const isThere = (name: string) => read(recordName(name))?.blobs.every(sha256 => files.lstat(pathOf(sha256))) ?? false
  const temporaryOf = (name: string) => `.${name}.tmp`
  const copyBlob = async (from: string, sha256: Sha256, signal: AbortSignal) => {
    const temporary = temporaryOf(sha256)
    removeIfThere(files, join(blobs, temporary))
    await copyImage(files, { from, to: join(blobs, temporary), signal })
    await durability.sync(blobs, [temporary])
    files.rename(join(blobs, temporary), pathOf(sha256))
  }
  const writeRecord = async (record: Record) => {
    const file = recordName(record.name)
    const temporary = temporaryOf(file)
    removeIfThere(files, join(shelf, temporary))
    writeNew(files, join(shelf, temporary), `${canonicalJson(record)}\n`)
    await durability.sync(shelf, [temporary])
    files.rename(join(shelf, temporary), join(shelf, file))
    await durability.sync(shelf, [])
  }
  const sweep = () => {
    const records = files.readdir(shelf).map(read)
    const named = new Set(records.flatMap(record => record?.blobs ?? []))
    for (const file of files.readdir(blobs)) if (!named.has(file as Sha256)) removeIfThere(files, join(blobs, file))
  }

  return {
    pathOf,
    has: isThere,

    put: ({ name, content, signal }) =>
      oneAtATime(async () => {
        const parts = content.blobs.filter(({ role }) => role !== 'signature')
        const record: Record = { version: 1, name, blobs: parts.map(({ sha256 }) => sha256) }
        if (isThere(name) && canonicalJson(read(recordName(name))) === canonicalJson(record)) return
        makeDirectories(files, blobs, 0o700)
        for (const { sha256 } of parts) {
          signal.throwIfAborted()
          if (!files.lstat(pathOf(sha256))) await copyBlob(verifiedPath(content, sha256), sha256, signal)
        }
        await durability.sync(blobs, [])
        await writeRecord(record)
      }),

    take: name =>
      oneAtATime(async () => {
        if (!files.lstat(blobs)) return
        removeIfThere(files, join(shelf, recordName(name)))
        await durability.sync(shelf, [])
        sweep()
      }),
  }
}
