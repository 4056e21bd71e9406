// Backup and restore of the embedded database, with the key without which its secrets are lost.
// A backup is of one moment and is made while the server runs. A restore is all or nothing and keeps what was there before.
import { existsSync, mkdtempSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Clock } from '../lib/clock.ts'
import { litterPrefix, removeTree, syncDirectory } from '../lib/durable.ts'
import { CairnError, messageOf, RefusedError } from '../lib/errors.ts'
import { realFiles } from '../lib/files.ts'
import { alreadyThere, packBackup, unpackBackup } from './backup-file.ts'
import { databaseFileIn, keyFileIn, lockDataDirectory, makeDataDirectory } from './database/data-directory.ts'
import { migrations, newerTables } from './database/migrate.ts'
import { finishRestore, switchTo } from './database/restore-switch.ts'
import { openVault } from './vault.ts'

export interface BackupOptions {
  readonly dataDirectory: string
  readonly out: string
  /** Where it is when not in the data directory. */
  readonly keyFile?: string
  /** Replace a file that is there. */
  readonly force?: boolean
  readonly clock: Clock
}

export interface BackupResult {
  readonly out: string
  readonly createdAt: string
  readonly bytes: number
}

const databaseName = databaseFileIn('')
const keyName = keyFileIn('')

export async function backupDatabase(options: BackupOptions): Promise<BackupResult> {
  const { dataDirectory, force = false, clock } = options
  const out = resolve(options.out)
  const source = databaseFileIn(dataDirectory)
  const keyFile = options.keyFile ?? keyFileIn(dataDirectory)
  if (!existsSync(source))
    throw new RefusedError('backup.no-database', `there is no embedded database in ${dataDirectory}`, {
      hint: 'A database on PostgreSQL is backed up with pg_dump; keep the key file vault.key with it.',
    })
  if (!force && existsSync(out)) throw alreadyThere(out)

  const work = mkdtempSync(join(dataDirectory, `${litterPrefix}backup-`))
  try {
    const copy = join(work, databaseName)
    const createdAt = clock.now().toISOString()
    copyOneMoment(source, copy)
    const { version } = await inspect({ database: copy, keyFile, clock })
    await packBackup({ createdAt, version, files: { [keyName]: keyFile, [databaseName]: copy } }, out, { force })
    return { out, createdAt, bytes: realFiles.lstat(out)?.size ?? 0 }
  } finally {
    removeTree(realFiles, work)
  }
}

/** One read transaction, however long it takes: whoever writes meanwhile neither waits nor is in it. */
function copyOneMoment(source: string, copy: string) {
  const database = new DatabaseSync(source, { readOnly: true, timeout: 10_000 })
  try {
    database.prepare('vacuum into ?').run(copy)
  } catch (cause) {
    throw new CairnError('backup.failed', `the database cannot be copied: ${messageOf(cause)}`, { cause })
  } finally {
    database.close()
  }
}

interface Inspected {
  readonly database: string
  readonly keyFile: string
  readonly clock: Clock
}

/** Throws when the file is damaged, is not ours, or the key does not open its secrets. Answers with the version of its tables. */
async function inspect({ database, keyFile, clock }: Inspected): Promise<{ version: number }> {
  const { version, recipient } = readFacts(database)
  await openVault({ keyFile, sealedTo: recipient, clock })
  return { version }
}

function readFacts(file: string): { version: number; recipient: string } {
  const database = new DatabaseSync(file, { readOnly: true })
  try {
    const check = database.prepare('pragma integrity_check').all() as { integrity_check: string }[]
    const first = check[0]?.integrity_check ?? 'no answer'
    if (first !== 'ok') throw new Error(first)
    const meta = database.prepare('select key, value from meta').all() as { key: string; value: string }[]
    const facts = new Map(meta.map(({ key, value }) => [key, value]))
    const recipient = facts.get('recipient')
    if (recipient === undefined) throw new Error('it was never used')
    return { version: Number(facts.get('version')), recipient }
  } catch (cause) {
    throw new RefusedError('backup.damaged', `the database is not in order: ${messageOf(cause)}`, { cause })
  } finally {
    database.close()
  }
}

export interface RestoreOptions {
  readonly from: string
  readonly dataDirectory: string
  /** Put it in the place of what is there, which is kept beside it. */
  readonly force?: boolean
  readonly clock: Clock
}

export interface RestoreResult {
  /** When the backup was made. */
  readonly createdAt: string
  /** Where the former database and key are now; null when there were none. */
  readonly kept: string | null
}

export async function restoreDatabase(options: RestoreOptions): Promise<RestoreResult> {
  const { from, dataDirectory, force = false, clock } = options
  makeDataDirectory(dataDirectory)
  const lock = await lockDataDirectory(dataDirectory, 'cairn restore', clock)
  let staged: string | undefined
  try {
    finishRestore(dataDirectory)
    const occupied = [databaseFileIn(dataDirectory), keyFileIn(dataDirectory)].some(path => existsSync(path))
    if (occupied && !force)
      throw new RefusedError('restore.exists', `there is a database in ${dataDirectory}`, {
        hint: 'With --force it is kept in a directory beside the restored one.',
      })
    staged = mkdtempSync(join(dataDirectory, `${litterPrefix}restore-`))
    const { createdAt } = await unpackBackup(from, staged)
    const { version } = await inspect({
      database: join(staged, databaseName),
      keyFile: join(staged, keyName),
      clock,
    })
    if (version > migrations.length) throw newerTables(version, migrations.length)
    syncDirectory(realFiles, staged)
    syncDirectory(realFiles, dataDirectory)
    const kept = `before-restore-${clock.now().toISOString().replaceAll(/[:.]/g, '-')}`
    switchTo(dataDirectory, { staged: basename(staged), kept })
    return { createdAt, kept: occupied ? join(dataDirectory, kept) : null }
  } finally {
    if (staged) removeTree(realFiles, staged)
    lock.release()
  }
}
