// A record makes a state valid: it is written last, so a directory without one is garbage and never a cache hit.
import { join } from 'node:path'
import { removeIfThere, syncDirectory, syncFile, temporaryNameFor } from '../../lib/durable.ts'
import { isErrno } from '../../lib/errors.ts'
import type { Files } from '../../lib/files.ts'
import type { Json } from '../../lib/json.ts'
import type { Warning } from '../../lib/problem.ts'
import { writeNew } from '../../lib/write-new.ts'
import { type Layout, statePath } from '../layout.ts'
import { byName, isStateName, type Sha256, type StateName } from '../names.ts'
import type { PackageKind } from './package.ts'
import { recordCorrupt } from './problems.ts'
/** `records/<state>.json` */
export interface StateRecord {
  readonly schema: 1
  readonly state: StateName
  readonly kind: PackageKind
  readonly name: string
  readonly version: string
  /** As hashed into the fingerprint. */
  readonly inputs: Json
  /** Of the tree: names, kinds, modes, link texts, bytes. */
  readonly contentSha256: Sha256
  /** Sum of the sizes of regular files, in bytes. */
  readonly size: number
  readonly entries: number
  /** Declared ones and those found by scanning the output; sorted. */
  readonly references: readonly StateName[]
  readonly sourceSha256?: Sha256
}

export const recordPath = (layout: Layout, state: StateName) => join(layout.records, `${state}.json`)

/**
 * Null when the state is not valid: no record; a corrupt one, which is put aside with a warning; or one without its
 * directory, which is void and removed. Only looks whether the directory is there: `verify` reads what is in it.
 */
export function readRecord(
  files: Files,
  layout: Layout,
  state: StateName,
  warn: (warning: Warning) => void,
): StateRecord | null {
  const path = recordPath(layout, state)
  const record = parseRecord(files, path)
  if (record === null) return null
  if (record === 'corrupt' || record.state !== state) {
    putAside(files, path)
    warn(recordCorrupt(path, `${path}.corrupt`))
    return null
  }
  if (files.lstat(statePath(layout, state))?.isDirectory()) return record
  removeIfThere(files, path)
  return null
}

/** Reading a record puts aside a corrupt one and drops a void one; a look must not. */
export const withoutTidying = (files: Files): Files => ({ ...files, rename: () => {}, unlink: () => {} })

/** Every valid state, sorted by name. */
export function listRecords(files: Files, layout: Layout, warn: (warning: Warning) => void): StateRecord[] {
  return recordedStates(files, layout)
    .map(state => readRecord(files, layout, state, warn))
    .filter(record => record !== null)
}

/** Names with a record, sorted; whether it is valid has not been looked at. */
export function recordedStates(files: Files, layout: Layout): StateName[] {
  return files
    .readdir(layout.records)
    .filter(name => name.endsWith('.json'))
    .map(name => name.slice(0, -'.json'.length))
    .filter(isStateName)
    .sort(byName)
}

/** Call it when the state's directory is in its place and on disk. */
export function writeRecord(files: Files, layout: Layout, record: StateRecord) {
  const { temporary, putInPlace } = draftRecord(files, layout, record)
  syncFile(files, temporary)
  putInPlace()
  syncDirectory(files, layout.records)
}

export interface RecordDraft {
  readonly temporary: string
  /** One rename; the caller has made the draft durable, and makes the name so. */
  putInPlace(): void
}

export function draftRecord(files: Files, layout: Layout, record: StateRecord): RecordDraft {
  const path = recordPath(layout, record.state)
  const temporary = temporaryNameFor(path)
  writeNew(files, temporary, `${JSON.stringify(record)}\n`)
  return { temporary, putInPlace: () => files.rename(temporary, path) }
}

function parseRecord(files: Files, path: string): StateRecord | 'corrupt' | null {
  try {
    const value: unknown = JSON.parse(files.readFile(path).toString('utf8'))
    return isRecord(value) ? value : 'corrupt'
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return null
    if (error instanceof SyntaxError) return 'corrupt'
    throw error
  }
}

function putAside(files: Files, path: string) {
  try {
    files.rename(path, `${path}.corrupt`)
  } catch (error) {
    // Another process was faster.
    if (!isErrno(error, 'ENOENT')) throw error
  }
}

function isRecord(value: unknown): value is StateRecord {
  if (typeof value !== 'object' || value === null) return false
  const { schema, state, contentSha256, size, entries, references } = value as Partial<StateRecord>
  return (
    schema === 1 &&
    typeof state === 'string' &&
    typeof contentSha256 === 'string' &&
    Number.isSafeInteger(size) &&
    Number.isSafeInteger(entries) &&
    Array.isArray(references) &&
    references.every(isStateName)
  )
}
