// What lies in pending/ for one config, and its record: read before going on, replaced as a whole, removed together.
import { randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { removeIfThere } from '../../lib/durable.ts'
import type { Files } from '../../lib/files.ts'
import type { DownloadConfig, Sha256 } from '../messages.ts'
import { halfMadeName, recordOf } from './pending-names.ts'
import { formatRecord, type ProgressRecord, parseRecord } from './progress-record.ts'

/** What of a download is on disk and can be gone on with. */
export interface Found {
  readonly offset: number
  /** Of the whole; null when it is not known. */
  readonly total: number | null
  readonly validator: string | null
  readonly complete: boolean
  readonly sha256?: Sha256 | undefined
}

const nothing: Found = { offset: 0, total: null, validator: null, complete: false }

export type WantedFile = Pick<DownloadConfig, 'target' | 'sha256' | 'size' | 'attempt'>

export function findPending(files: Files, wanted: WantedFile): Found {
  const record = readRecord(files, wanted.target)
  const stats = files.lstat(wanted.target)
  if (!record || record.attempt < wanted.attempt || !stats?.isFile() || stats.nlink !== 1) return nothing
  const { offset, size: total, validator, complete, sha256 } = record
  if (stats.size < offset || (wanted.size > 0 && (total ?? wanted.size) !== wanted.size)) return nothing
  const isWhole = complete && stats.size === offset && (wanted.sha256 !== undefined || sha256 !== undefined)
  return { offset, total, validator, complete: isWhole, sha256 }
}

export function readRecord(files: Files, target: string): ProgressRecord | null {
  try {
    const path = recordOf(target)
    return files.lstat(path)?.isFile() ? parseRecord(files.readFile(path).toString('utf8')) : null
  } catch {
    return null
  }
}

/** The record first: a file without one is nothing to go on with. */
export function removePending(files: Files, target: string) {
  removeIfThere(files, recordOf(target))
  removeIfThere(files, target)
}

/**
 * Through a rename, so that there is always an old or a new one; not durable by itself. Not by `Files`: a rename over a
 * file can wait for the disk, and all downloads would wait with it.
 */
export async function writeRecord(target: string, record: ProgressRecord) {
  const path = recordOf(target)
  const temporary = join(dirname(path), halfMadeName(basename(path), randomBytes(6).toString('hex')))
  try {
    await fs.promises.writeFile(temporary, formatRecord(record), { flag: 'wx', mode: 0o640 })
    await fs.promises.rename(temporary, path)
  } catch (error) {
    await fs.promises.rm(temporary, { force: true })
    throw error
  }
}
