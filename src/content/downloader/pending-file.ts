// The file into which one download grows. Bytes are gathered, written in the background and made durable in the background;
// the progress record follows what is durable, never leads it.
// Holds: of what was received, at most `window` and one block are not covered by a record that a power cut leaves.
import { createHash, type Hash } from 'node:crypto'
import * as fs from 'node:fs'
import { basename, dirname } from 'node:path'
import { promisify } from 'node:util'
import { removeIfThere } from '../../lib/durable.ts'
import type { Files } from '../../lib/files.ts'
import { letGo } from '../let-go.ts'
import type { Sha256 } from '../messages.ts'
import type { ProcessContext } from '../process/context.ts'
import { onDisk } from './disk-failure.ts'
import { findPending, removePending, type WantedFile, writeRecord } from './found-pending.ts'
import { recordOf } from './pending-names.ts'
import { longestValidator, type ProgressRecord } from './progress-record.ts'

export interface PendingFile {
  /** Bytes received and kept, whether written yet or not. */
  readonly size: number
  readonly total: number | null
  readonly validator: string | null
  /** What the source said of the object whose bytes follow. */
  describe(object: { total: number | null; validator: string | null }): void
  /** A promise means: wait, the disk is behind; until then the bytes are still read. */
  append(bytes: Buffer): Promise<void> | undefined
  /** Forgets all bytes. */
  restart(): Promise<void>
  /** Everything is there; the digest is told when the config had none. */
  finish(): Promise<{ sha256?: Sha256 }>
  /** Keeps what came, for going on later. */
  close(): Promise<void>
}

const block = 512 * 1024
/** May be lost by a crash. */
const window = 8 * 2 ** 20
/** Made durable at once; a quarter, so that receiving, syncing data and syncing the record overlap within the window. */
const step = window / 4

// The data itself goes past `Files`: what waits for the disk would stop the sockets of all downloads.
const readAt = promisify(fs.read)
const writeAt = promisify(fs.write)
const truncate = promisify(fs.ftruncate)

export async function openPending(
  { files, durability }: Pick<ProcessContext, 'files' | 'durability'>,
  wanted: WantedFile,
): Promise<PendingFile> {
  const { target, attempt } = wanted
  const directory = dirname(target)
  const name = basename(target)
  const promised = wanted.size > 0 ? wanted.size : null
  const found = findPending(files, wanted)
  let { offset: size, validator } = found
  let total = found.total ?? promised
  const { fd, ...opened } = await onDisk(() => openData(files, wanted, size))
  let { hash } = opened

  /** Offsets: in the file; on disk; in the record; in the record that is on disk. */
  let written = size
  let durable = size
  let recorded = size
  let settled = size
  /** What is received goes into the one while the other is written. Their memory is used again and again. */
  let current = Buffer.allocUnsafeSlow(block)
  let other = Buffer.allocUnsafeSlow(block)
  let gathered = 0
  let writing: Promise<void> | null = null
  let syncing: Promise<void> | null = null
  let recording = Promise.resolve()
  let failure: unknown
  /** The last record stands; a sync that is still on its way must not put an older one over it. */
  let isFinished = false

  const check = () => {
    if (failure !== undefined) throw failure
  }
  /** One after another: the last one asked for is the one that stays. */
  const record = (facts: Pick<ProgressRecord, 'offset' | 'complete' | 'sha256'>) => {
    const next = { attempt, size: total, validator: wanted.sha256 ? null : validator, ...facts }
    recording = recording.then(async () => {
      await writeRecord(target, next)
      recorded = next.offset
    })
    return recording
  }
  /** Returns the bytes for which there is no room yet. */
  const gather = (bytes: Buffer): Buffer => {
    const count = bytes.copy(current, gathered)
    gathered += count
    return bytes.subarray(count)
  }
  const write = () => {
    const bytes = current.subarray(0, gathered)
    ;[current, other] = [other, current]
    gathered = 0
    writing = writeAll(fd, bytes, written)
      .then(() => {
        written += bytes.length
        if (written - durable >= step && !isCovered()) syncing ??= sync()
      })
      .catch(error => {
        failure ??= error
      })
      .finally(() => {
        writing = null
      })
  }
  /** So little is left that losing all of it loses no more than the window. */
  const isCovered = () => total !== null && total - settled <= window
  const sync = async () => {
    try {
      const upTo = written
      const before = recorded
      await durability.sync(directory, before > 0 ? [name, recordOf(name)] : [name])
      settled = before
      durable = upTo
      if (!isFinished) await record({ offset: upTo, complete: false })
    } catch (error) {
      failure ??= error
    } finally {
      syncing = null
    }
  }
  const flush = async () => {
    await writing
    if (gathered > 0) write()
    await writing
    check()
  }
  /** The disk catches up: one block is being written, and no more than the window is unsafe. */
  const catchUp = (rest: Buffer) =>
    onDisk(async () => {
      for (let left = rest; gathered === block; left = gather(left)) {
        await writing
        check()
        write()
      }
      while (size - settled > window && !isCovered()) {
        syncing ??= sync()
        await syncing
        check()
      }
    })
  return {
    get size() {
      return size
    },
    get total() {
      return total
    },
    get validator() {
      return validator
    },
    describe(object) {
      total = object.total ?? total
      validator = object.validator && object.validator.length <= longestValidator ? object.validator : null
    },
    append(bytes) {
      size += bytes.length
      hash?.update(bytes)
      const rest = gather(bytes)
      return gathered < block ? undefined : catchUp(rest)
    },
    restart: () =>
      onDisk(async () => {
        await writing
        await syncing
        check()
        removeIfThere(files, recordOf(target))
        await truncate(fd, 0)
        size = written = durable = recorded = settled = gathered = 0
        total = promised
        validator = null
        if (hash) hash = createHash('sha256')
      }),
    finish: () =>
      onDisk(async () => {
        await flush()
        total = size
        const sha256 = hash?.digest('hex') as Sha256 | undefined
        isFinished = true
        await record({ offset: size, complete: true, ...(sha256 && { sha256 }) })
        return sha256 ? { sha256 } : {}
      }),
    async close() {
      try {
        if (!isFinished && failure === undefined) {
          await flush()
          await syncing
          if (written > recorded) await sync()
        }
      } catch {
        // What is recorded already is gone on with.
      } finally {
        await writing
        if (!isFinished) await syncing
        files.close(fd)
        letGo(current)
        letGo(other)
      }
    },
  }
}

/** Opened for going on at the offset, or made anew: who reads what was there before keeps reading that. */
async function openData(files: Files, { target, sha256 }: WantedFile, offset: number) {
  const { O_RDWR, O_CREAT, O_EXCL, O_NOFOLLOW } = fs.constants
  if (offset === 0) {
    removePending(files, target)
    const fd = files.open(target, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0o640)
    return { fd, hash: sha256 ? null : createHash('sha256') }
  }
  const fd = files.open(target, O_RDWR | O_NOFOLLOW)
  try {
    if (files.fstat(fd).size > offset) await truncate(fd, offset)
    return { fd, hash: sha256 ? null : await hashUpTo(fd, offset) }
  } catch (error) {
    files.close(fd)
    throw error
  }
}

async function hashUpTo(fd: number, size: number): Promise<Hash> {
  const hash = createHash('sha256')
  const buffer = Buffer.allocUnsafe(Math.min(size, 2 ** 20))
  for (let at = 0; at < size; ) {
    const { bytesRead } = await readAt(fd, buffer, 0, Math.min(buffer.length, size - at), at)
    if (bytesRead === 0) throw new Error('the file became shorter while it was read')
    hash.update(buffer.subarray(0, bytesRead))
    at += bytesRead
  }
  return hash
}

async function writeAll(fd: number, bytes: Buffer, position: number): Promise<void> {
  for (let at = 0; at < bytes.length; )
    at += (await writeAt(fd, bytes, at, bytes.length - at, position + at)).bytesWritten
}
