// A lock that ends with its holder: the kernel keeps it on an open file of this process and drops it when the process is
// gone, however it ended. flock(1) is started only to ask for it, on our descriptor, and exits at once; nothing that could
// be killed apart from us holds the lock. Without flock(1): a file made exclusively, taken over when its maker is dead.
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import type { Clock } from './clock.ts'
import { removeIfThere, temporaryNameFor } from './durable.ts'
import { CairnError, isErrno, messageOf, RefusedError } from './errors.ts'
import { type Files, realFiles } from './files.ts'
import { isAlive, type ProcessIdentity, thisProcess } from './process-identity.ts'
import { relativeTime } from './relative-time.ts'
import { findProgram } from './run.ts'

export interface Lock {
  /** May be called again; does nothing then. */
  release(): void
}

export interface LockOptions {
  /** What the holder does, for whoever is refused: 'cairn node apply'. */
  readonly command: string
  readonly clock: Clock
  readonly files?: Files
  /** How long to wait for a holder that is alive; default 0. */
  readonly waitMs?: number
  /** Path of flock(1), null for a machine without it. */
  readonly flock?: string | null
}

interface Holder extends ProcessIdentity {
  readonly command: string
  readonly since: string
  /** Tells two takings by one process apart. */
  readonly id: string
}

const pollMs = 25
/** A holder that was just killed, or one that has not yet written who it is, is waited for this long in any case. */
const graceMs = 1000
/** Enough for a command of 200 characters, whichever. */
const holderLength = 2048

/** Refuses with `lock.busy`, naming the holder, when the lock is not had in time. */
export async function acquireLock(path: string, options: LockOptions): Promise<Lock> {
  const { command, clock, files = realFiles, waitMs = 0, flock = findProgram('flock') } = options
  const me: Holder = {
    ...thisProcess(clock),
    command: command.slice(0, 200),
    since: clock.now().toISOString(),
    id: randomBytes(6).toString('hex'),
  }
  const keeper = flock ? openKernelLock(files, path, flock) : openFileLock(files, `${path}.held`, clock)
  try {
    for (const started = clock.monotonicMs(); ; await clock.sleep(pollMs)) {
      if (await keeper.take(me)) return { release: keeper.release }
      const holder = readHolder(files, keeper.path)
      const patience = holder && isAlive(holder, clock) ? waitMs : Math.max(waitMs, graceMs)
      if (clock.monotonicMs() - started >= patience) throw lockBusy(path, holder, clock)
    }
  } catch (error) {
    keeper.release()
    throw error
  }
}

interface Keeper {
  /** Where the holder says who it is. */
  readonly path: string
  take(me: Holder): Promise<boolean>
  release(): void
}

/** The lock belongs to the open file description that flock(1) inherits from us, and lasts until our descriptor closes. */
function openKernelLock(files: Files, path: string, flock: string): Keeper {
  const fd = openLockFile(files, path)
  let open = true
  return {
    path,
    take: async me => {
      if (!(await lockDescriptor(flock, fd))) return false
      tellHolder(files, fd, me)
      return true
    },
    release: () => {
      if (open) files.close(fd)
      open = false
    },
  }
}

/** Private: whoever can open the file can lock it, and so hinder its owner. */
function openLockFile(files: Files, path: string): number {
  try {
    return files.open(path, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o600)
  } catch (cause) {
    if (!isErrno(cause, 'EACCES', 'EPERM', 'EROFS')) throw cause
    const hint = 'Run as the owner of the store (usually root), or use a store of your own with --root DIR.'
    throw new RefusedError('lock.denied', `the lock ${path} cannot be opened: ${messageOf(cause)}`, { hint, cause })
  }
}

function lockDescriptor(flock: string, fd: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const child = spawn(flock, ['-n', '3'], { stdio: ['ignore', 'ignore', 'ignore', fd], detached: true })
    child.on('error', cause => reject(new CairnError('lock.failed', `${flock} cannot be started`, { cause })))
    child.on('exit', (code, signal) => {
      if (code === 0) resolve(true)
      else if (code === 1) resolve(false)
      else reject(new CairnError('lock.failed', `${flock} ended with ${signal ?? `code ${code}`}`))
    })
  })
}

/** In place and of one length, so that it takes no new block: a full disk must not keep gc from its lock. */
function tellHolder(files: Files, fd: number, me: Holder) {
  try {
    const text = Buffer.alloc(holderLength, ' ')
    text.write(JSON.stringify(me))
    files.write(fd, text)
  } catch (error) {
    if (!isErrno(error, 'ENOSPC', 'EDQUOT')) throw error
  }
}

function openFileLock(files: Files, path: string, clock: Clock): Keeper {
  let mine: Holder | null = null
  return {
    path,
    take: async me => {
      if (makeHeldFile(files, path, me)) {
        mine = me
        return true
      }
      const holder = readHolder(files, path)
      if (holder && !isAlive(holder, clock)) removeStale(files, path, holder, clock)
      return false
    },
    release: () => {
      if (mine) removeIfThere(files, path)
      mine = null
    },
  }
}

/** The file appears with its content or not at all. */
function makeHeldFile(files: Files, path: string, me: Holder): boolean {
  const temporary = temporaryNameFor(path)
  const fd = files.open(temporary, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600)
  try {
    files.write(fd, Buffer.from(JSON.stringify(me)))
    files.link(temporary, path)
    return true
  } catch (error) {
    if (isErrno(error, 'EEXIST')) return false
    throw error
  } finally {
    files.close(fd)
    removeIfThere(files, temporary)
  }
}

/**
 * Of many that see the same dead holder, one may remove its file: who makes the claim, a second name for just that holder.
 * A claim whose maker died as well is given up after ten seconds (making the claim set the change time).
 */
function removeStale(files: Files, path: string, dead: Holder, clock: Clock) {
  const claim = `${path}-${dead.id}`
  try {
    files.link(path, claim)
  } catch (error) {
    if (!isErrno(error, 'EEXIST', 'ENOENT')) throw error
    const made = files.lstat(claim)?.ctimeMs
    if (made !== undefined && clock.now().getTime() - made > 10_000) removeIfThere(files, claim)
    return
  }
  if (readHolder(files, claim)?.id === dead.id) removeIfThere(files, path)
  removeIfThere(files, claim)
}

function readHolder(files: Files, path: string): Holder | null {
  try {
    return JSON.parse(files.readFile(path).toString('utf8')) as Holder
  } catch (error) {
    if (error instanceof SyntaxError || isErrno(error, 'ENOENT', 'EACCES')) return null
    throw error
  }
}

function lockBusy(path: string, holder: Holder | null, clock: Clock): RefusedError {
  if (!holder) return new RefusedError('lock.busy', `${path} is locked by another process`)
  return new RefusedError(
    'lock.busy',
    `locked by ${holder.command} (pid ${holder.pid}, started ${relativeTime(new Date(holder.since), clock.now())})`,
    { hint: 'Wait until it has ended; the lock goes with it.' },
  )
}
