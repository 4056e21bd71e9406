// The switch from the old database to a restored one. A note that is written durably is the commit point: before it the old
// one stands untouched, after it every start finishes the switch before anything is opened.
import { join } from 'node:path'
import { makeDirectories, removeIfThere, syncDirectory, writeDurably } from '../../lib/durable.ts'
import { realFiles as files } from '../../lib/files.ts'
import { databaseFileIn, keyFileIn } from './data-directory.ts'

interface Switch {
  /** Directories in the data directory: with the new files, and for the old ones. */
  readonly staged: string
  readonly kept: string
}

const noteIn = (dataDirectory: string) => join(dataDirectory, 'restore.json')
const mainFiles = [keyFileIn(''), databaseFileIn('')]
/** They belong to the old database, whichever stands there: nothing was opened since. */
const sideFiles = ['-wal', '-shm'].map(ending => databaseFileIn('') + ending)

/** The staged files are on disk already. */
export function switchTo(dataDirectory: string, to: Switch): void {
  writeDurably(files, noteIn(dataDirectory), JSON.stringify(to), { mode: 0o600 })
  finishRestore(dataDirectory)
}

export function finishRestore(dataDirectory: string): void {
  if (!files.lstat(noteIn(dataDirectory))) return
  const { staged, kept }: Switch = JSON.parse(files.readFile(noteIn(dataDirectory)).toString('utf8'))
  const move = (name: string, from: string, to: string) => {
    if (!files.lstat(join(from, name))) return
    makeDirectories(files, to, 0o700)
    files.rename(join(from, name), join(to, name))
  }
  const stagedIn = join(dataDirectory, staged)
  const keptIn = join(dataDirectory, kept)
  for (const name of sideFiles) move(name, dataDirectory, keptIn)
  for (const name of mainFiles) {
    // No longer staged: it is in its place already, and what stands there is the new one.
    if (!files.lstat(join(stagedIn, name))) continue
    move(name, dataDirectory, keptIn)
    move(name, stagedIn, dataDirectory)
  }
  if (files.lstat(keptIn)) syncDirectory(files, keptIn)
  syncDirectory(files, dataDirectory)
  if (files.lstat(stagedIn)) files.rmdir(stagedIn)
  removeIfThere(files, noteIn(dataDirectory))
  syncDirectory(files, dataDirectory)
}
