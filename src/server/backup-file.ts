// A backup as one file: a tar archive with a manifest, the key of the vault and the database, in this order. The manifest has
// the checksum of the others. Whoever has the file has every secret, so only its owner can read it.
import { createReadStream, createWriteStream, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { extract, pack } from 'tar-stream'
import * as z from 'zod'
import { removeIfThere, renameDurably, syncDirectory, syncFile, temporaryNameFor } from '../lib/durable.ts'
import { CairnError, isErrno, messageOf, RefusedError } from '../lib/errors.ts'
import { realFiles } from '../lib/files.ts'
import { hashFile } from '../lib/hash-file.ts'

const manifestSchema = z.object({
  format: z.literal('cairn-backup/1'),
  createdAt: z.iso.datetime(),
  /** Of the tables. */
  version: z.number().int(),
  files: z.array(z.object({ name: z.string().regex(/^[a-z.]+$/), size: z.number().int(), sha256: z.string() })),
})
type Manifest = z.infer<typeof manifestSchema>

export interface BackupContent extends Pick<Manifest, 'createdAt' | 'version'> {
  /** Where the files are, by the name that they have in the backup. */
  readonly files: Readonly<Record<string, string>>
}

const manifestName = 'manifest.json'
const mostManifest = 64 * 1024

/** The file appears whole or not at all; refuses with `backup.exists` unless forced. */
export async function packBackup(content: BackupContent, out: string, { force }: { force: boolean }): Promise<void> {
  const temporary = temporaryNameFor(out)
  try {
    const writing = createWriteStream(temporary, { flags: 'wx', mode: 0o600 })
    await pipeline(archiveOf(content), writing)
    syncFile(realFiles, temporary)
    if (force) return renameDurably(realFiles, temporary, out)
    realFiles.link(temporary, out)
    syncDirectory(realFiles, dirname(out))
  } catch (cause) {
    if (isErrno(cause, 'EEXIST')) throw alreadyThere(out)
    throw new CairnError('backup.failed', `the backup ${out} cannot be written: ${messageOf(cause)}`, { cause })
  } finally {
    removeIfThere(realFiles, temporary)
  }
}

export const alreadyThere = (out: string): RefusedError =>
  new RefusedError('backup.exists', `${out} is there already`, { hint: 'Give another name, or --force to replace it.' })

function archiveOf({ createdAt, version, files }: BackupContent): Readable {
  const entries = Object.entries(files).map(([name, path]) => ({
    name,
    path,
    size: statSync(path).size,
    sha256: hashFile(realFiles, path),
  }))
  const manifest: Manifest = {
    format: 'cairn-backup/1',
    createdAt,
    version,
    files: entries.map(({ path, ...entry }) => entry),
  }
  const archive = pack()
  const attributes = { mode: 0o600, mtime: new Date(createdAt) }
  const fill = async () => {
    archive.entry({ name: manifestName, ...attributes }, `${JSON.stringify(manifest, null, 2)}\n`)
    for (const { name, path, size } of entries)
      await pipeline(createReadStream(path), archive.entry({ name, size, ...attributes }))
    archive.finalize()
  }
  fill().catch(error => archive.destroy(error as Error))
  return archive as unknown as Readable
}

/** Into an empty directory, each file checked against the manifest. Refuses with `backup.damaged`. */
export async function unpackBackup(from: string, into: string): Promise<Manifest> {
  const reading = extract()
  const feeding = pipeline(createReadStream(from), reading)
  // Told by whoever reads the entries, who meets the same error.
  feeding.catch(() => {})
  try {
    let manifest: Manifest | undefined
    const found = new Set<string>()
    for await (const entry of reading) {
      const { name } = entry.header
      if (!manifest) {
        manifest = await manifestIn(entry.header, entry as AsyncIterable<Buffer>)
        continue
      }
      const expected = manifest.files.find(file => file.name === name && !found.has(name))
      if (!expected) throw new Error(`${name} is not in its manifest`)
      const path = join(into, name)
      await pipeline(entry, createWriteStream(path, { flags: 'wx', mode: 0o600 }))
      syncFile(realFiles, path)
      if (hashFile(realFiles, path) !== expected.sha256) throw new Error(`${name} does not have its checksum`)
      found.add(name)
    }
    await feeding
    const missing = manifest?.files.find(file => !found.has(file.name))
    if (!manifest || missing) throw new Error(`${missing?.name ?? manifestName} is missing`)
    return manifest
  } catch (cause) {
    if (isErrno(cause, 'ENOENT', 'EACCES', 'EISDIR')) throw notReadable(from, cause)
    if (isErrno(cause, 'ENOSPC', 'EDQUOT', 'EIO')) throw cause
    throw new RefusedError('backup.damaged', `${from} is not a whole backup of Cairn: ${reasonOf(cause)}`, {
      hint: 'Nothing was changed. Take another backup.',
      cause,
    })
  }
}

const reasonOf = (cause: unknown): string =>
  cause instanceof z.ZodError || cause instanceof SyntaxError ? 'its manifest cannot be read' : messageOf(cause)

const notReadable = (from: string, cause: unknown): RefusedError =>
  new RefusedError('backup.unreadable', `the backup ${from} cannot be read: ${messageOf(cause)}`, { cause })

async function manifestIn(header: { name: string; size?: number }, content: AsyncIterable<Buffer>): Promise<Manifest> {
  if (header.name !== manifestName || (header.size ?? 0) > mostManifest)
    throw new Error('it does not begin with a manifest')
  const chunks: Buffer[] = []
  for await (const chunk of content) chunks.push(chunk)
  return manifestSchema.parse(JSON.parse(Buffer.concat(chunks).toString('utf8')))
}
