// The file into which a download grows. Its name says whose it is, so that two processes never write to one; what a dead
// process left of the same download is taken over and hashed again. Names come from a hash, never from a URL.
import { createHash, type Hash } from 'node:crypto'
import { constants } from 'node:fs'
import { join } from 'node:path'
import type { Checksum } from '../lib/checksum.ts'
import type { Clock } from '../lib/clock.ts'
import { removeIfThere } from '../lib/durable.ts'
import { isErrno } from '../lib/errors.ts'
import type { Files } from '../lib/files.ts'
import { isAlive, type ProcessIdentity, thisProcess } from '../lib/process-identity.ts'
import { readChunks } from '../lib/read-chunks.ts'

/** What If-Range sends, so that only the same bytes go on: a strong ETag or a Last-Modified date. */
export type Validator = string

export interface PartFile {
  readonly path: string
  readonly size: number
  /** Null when what is there cannot be gone on with. */
  readonly validator: Validator | null
  write(bytes: Uint8Array): void
  /** Empties it; what follows comes with this validator. */
  restart(validator: Validator | null): void
  digest(algorithm: Checksum['algorithm']): string
  close(): void
  remove(): void
}

export interface PartOptions {
  readonly files: Files
  readonly clock: Clock
  readonly directory: string
  readonly key: string
  readonly algorithm: Checksum['algorithm']
  /** The end is checked against a checksum, so bytes from before a power cut may be tried. */
  readonly pinned: boolean
}

const leftoverForMs = 7 * 24 * 60 * 60 * 1000

export function openPart(options: PartOptions): PartFile {
  const { files, directory, key, clock, algorithm } = options
  const path = join(directory, partName(key, thisProcess(clock)))
  const validatorPath = `${path}.validator`
  takeOver(options, path)

  let hashes = newHashes(algorithm)
  let size = files.lstat(path) ? hashFile(files, path, hashes) : 0
  let validator = size > 0 && files.lstat(validatorPath) ? files.readFile(validatorPath).toString('utf8') : null
  let fd: number | null = files.open(path, writing | constants.O_APPEND, 0o600)

  const close = () => {
    if (fd !== null) files.close(fd)
    fd = null
  }
  return {
    path,
    get size() {
      return size
    },
    get validator() {
      return validator
    },
    write(bytes) {
      if (fd === null) throw new Error('written to a closed part file')
      files.write(fd, bytes)
      size += bytes.length
      for (const hash of hashes.values()) hash.update(bytes)
    },
    restart(next) {
      close()
      fd = files.open(path, writing | constants.O_TRUNC, 0o600)
      hashes = newHashes(algorithm)
      size = 0
      validator = next
      removeIfThere(files, validatorPath)
      if (next !== null) writeSmall(files, validatorPath, next)
    },
    digest: name => (hashes.get(name) as Hash).copy().digest('hex'),
    close,
    remove() {
      close()
      try {
        removeIfThere(files, validatorPath)
      } finally {
        removeIfThere(files, path)
      }
    },
  }
}

const writing = constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW

const partName = (key: string, { bootId, pid, startTime }: ProcessIdentity) =>
  `${key}.${bootId}.${pid}.${startTime}.part`

/** Of what dead processes left: the first of this key becomes ours, others of this key and all old ones go. */
function takeOver({ files, directory, key, clock, pinned }: PartOptions, path: string) {
  for (const name of files.readdir(directory)) {
    const [, foundKey, bootId, pid, startTime] = /^([0-9a-f]{64})\.([\w-]+)\.(\d+)\.(\d+)\.part$/.exec(name) ?? []
    if (!foundKey || !bootId || !pid || !startTime) continue
    if (isAlive({ bootId, pid: Number(pid), startTime }, clock)) continue
    const found = join(directory, name)
    const usable = foundKey === key && (pinned || bootId === clock.bootId()) && !files.lstat(path)
    const age = clock.now().getTime() - (files.lstat(found)?.mtimeMs ?? 0)
    if (usable) {
      renameIfThere(files, `${found}.validator`, `${path}.validator`)
      renameIfThere(files, found, path)
    } else if (foundKey === key || age > leftoverForMs) {
      removeIfThere(files, `${found}.validator`)
      removeIfThere(files, found)
    }
  }
}

function newHashes(algorithm: Checksum['algorithm']): Map<Checksum['algorithm'], Hash> {
  return new Map([...new Set(['sha256' as const, algorithm])].map(name => [name, createHash(name)]))
}

function hashFile(files: Files, path: string, hashes: Map<string, Hash>): number {
  let size = 0
  for (const chunk of readChunks(files, path)) {
    for (const hash of hashes.values()) hash.update(chunk)
    size += chunk.length
  }
  return size
}

function writeSmall(files: Files, path: string, text: string) {
  const fd = files.open(path, writing | constants.O_TRUNC, 0o600)
  try {
    files.write(fd, Buffer.from(text))
  } finally {
    files.close(fd)
  }
}

function renameIfThere(files: Files, from: string, to: string) {
  try {
    files.rename(from, to)
  } catch (error) {
    if (!isErrno(error, 'ENOENT')) throw error
  }
}
