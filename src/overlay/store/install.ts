// Brings packages into the store. A state appears under its name in one rename, complete and on disk; its record follows and
// makes it valid. At every moment before that, nothing of it can be taken for a state, and nobody waits for a lock.
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { removeIfThere, removeTree, syncDirectory, syncFile } from '../../lib/durable.ts'
import { CairnError, isErrno, messageOf, ProblemsError } from '../../lib/errors.ts'
import type { Problem, Warning } from '../../lib/problem.ts'
import { sharing } from '../../lib/shared.ts'
import { type Slots, slots } from '../../lib/slots.ts'
import { statePath } from '../layout.ts'
import { byName, type StateName } from '../names.ts'
import { stateNameOf } from './fingerprint.ts'
import { type Flush, flusher } from './flush.ts'
import { writeListing } from './listing.ts'
import type { BuildContext, InstalledPackage, Package } from './package.ts'
import { draftRecord, readRecord, recordedStates, type StateRecord } from './record.ts'
import { sealTree, syncTree } from './seal.ts'
import { moveToTrash } from './trash.ts'
import { hashTree } from './tree.ts'

export interface Store extends BuildContext {
  /** Keeps gc away from states. Called before anything is known of them, so that what is found then stays. */
  readonly protect: (states: readonly StateName[]) => Promise<void>
  readonly warn: (warning: Warning) => void
}

/** Inside this process each state is installed once for all who want it at the same time; by the path of the state. */
const installs = sharing<InstalledPackage>()

/** Throws a ProblemsError for what a person can mend; nothing of a failed or aborted install stays. */
export async function installPackage(store: Store, pkg: Package): Promise<InstalledPackage> {
  const [installed] = await installAll(store, [pkg])
  return installed!
}

/** In the order of the packages. The first failure ends the rest; Problems of those that failed by themselves are gathered. */
export async function installAll(
  store: Store,
  packages: readonly Package[],
  { concurrency = 4 }: { concurrency?: number } = {},
): Promise<InstalledPackage[]> {
  const failed = new AbortController()
  const signal = AbortSignal.any([store.signal, failed.signal])
  const errors: unknown[] = []
  const site: Site = {
    ...store,
    signal,
    stop: () => failed.abort(),
    slot: slots(concurrency),
    flush: flusher(store.layout.states),
  }
  await store.protect(packages.map(stateNameOf))
  const installed = await Promise.all(
    packages.map(async pkg => {
      try {
        return await installOnce(site, pkg)
      } catch (error) {
        if (error !== signal.reason) errors.push(error)
        failed.abort()
        return null
      }
    }),
  )
  store.signal.throwIfAborted()
  if (errors.length > 0) throw gathered(errors)
  return installed as InstalledPackage[]
}

/** What all installs of one call share. */
interface Site extends Store {
  /** Ends the others; called before a failed build gives its place to the next. */
  readonly stop: () => void
  /** Building takes one of a few places; waiting for the disk takes none. */
  readonly slot: Slots
  readonly flush: Flush
}

/** What nobody expected weighs more than any number of Problems. */
function gathered(errors: readonly unknown[]): unknown {
  const unexpected = errors.find(error => !(error instanceof ProblemsError))
  if (unexpected) return unexpected
  const problems = errors.flatMap(error => (error as ProblemsError).problems)
  return new ProblemsError([
    ...new Map(problems.map((problem): [string, Problem] => [JSON.stringify(problem), problem])).values(),
  ])
}

async function installOnce(site: Site, pkg: Package): Promise<InstalledPackage> {
  const state = stateNameOf(pkg)
  const lease = await installs.acquire(statePath(site.layout, state), site.signal, signal =>
    install({ ...site, signal }, pkg, state),
  )
  lease.release()
  return lease.first ? lease.value : { ...lease.value, fresh: false }
}

async function install(site: Site, pkg: Package, state: StateName): Promise<InstalledPackage> {
  const { files, layout, signal } = site
  const { kind, name, version } = pkg
  const known = readRecord(files, layout, state, site.warn)
  if (known) return { kind, name, version, state, record: known, fresh: false }

  const temporary = join(layout.states, `.${name}-tmp-${randomBytes(6).toString('hex')}`)
  let built: BuiltState | undefined
  try {
    built = await site.slot(() => buildOrStop(site, pkg, temporary))
    await site.flush(built.record.entries, () => syncTree(files, temporary))
    signal.throwIfAborted()
    const earlier = putInPlace(site, built.record, temporary)
    if (!earlier) await makeValid(site, built)
    return { kind, name, version, state, record: earlier ?? built.record, fresh: !earlier }
  } catch (error) {
    removeTree(files, temporary)
    throw isSystemError(error) ? storeFailure(error, name) : error
  } finally {
    built?.release()
  }
}

async function buildOrStop(site: Site, pkg: Package, temporary: string): Promise<BuiltState> {
  site.signal.throwIfAborted()
  try {
    return await buildState(site, pkg, temporary)
  } catch (error) {
    site.stop()
    throw error
  }
}

/** The record gets its name only when the state has its own on disk. */
async function makeValid({ files, layout, flush }: Site, { record, listing }: BuiltState) {
  writeListing(files, layout, { state: record.state, text: listing })
  const draft = draftRecord(files, layout, record)
  try {
    await flush(2, () => {
      syncDirectory(files, layout.states)
      syncFile(files, draft.temporary)
    })
    draft.putInPlace()
  } catch (error) {
    removeIfThere(files, draft.temporary)
    throw error
  }
  await flush(1, () => syncDirectory(files, layout.records))
}

export interface BuiltState {
  /** Would make it valid. */
  readonly record: StateRecord
  /** For writeListing. */
  readonly listing: string
  /** Its sources may go: it is valid, or nothing comes of it. */
  release(): void
}

/** Makes the directory, fills it and seals it; it has no name yet and is not flushed. Also how repair builds. */
export async function buildState(store: BuildContext, pkg: Package, directory: string): Promise<BuiltState> {
  const { files, layout } = store
  const { kind, name, version, inputs } = pkg
  const state = stateNameOf(pkg)
  files.mkdir(directory, 0o700)
  const { sourceSha256, sealed, release = () => {} } = await pkg.build(directory, store)
  try {
    const { mentions, listing, ...summary } =
      sealed ?? sealTree(files, directory, [...recordedStates(files, layout), ...pkg.references])
    const references = [...new Set([...pkg.references, ...mentions])].sort(byName)
    const hashed = { schema: 1, state, kind, name, version, inputs } as const
    const seen = sourceSha256 === undefined ? {} : { sourceSha256 }
    return { record: { ...hashed, ...summary, references, ...seen }, listing, release }
  } catch (error) {
    release()
    throw error
  }
}

/**
 * Gives the built tree its name. Something may stand there already: when it is valid, its record is returned and ours goes;
 * when it has no record but the same content, another process is about to write that record, or died before it could, and
 * ours goes as well; anything else is a leftover and makes way.
 */
function putInPlace(store: Store, record: StateRecord, temporary: string): StateRecord | null {
  const { files, layout, warn } = store
  const place = statePath(layout, record.state)
  for (let tries = 1; ; tries++) {
    try {
      files.rename(temporary, place)
      return null
    } catch (error) {
      if (!isErrno(error, 'ENOTEMPTY', 'EEXIST', 'ENOTDIR') || tries > 2) throw error
    }
    const earlier = readRecord(files, layout, record.state, warn)
    if (earlier || isSameTree(store, place, record)) {
      removeTree(files, temporary)
      return earlier
    }
    discard(store, record.state)
  }
}

function discard({ files, layout }: Store, state: StateName) {
  try {
    removeTree(files, moveToTrash(files, layout, state))
  } catch (error) {
    // Another process that found the same leftover was faster.
    if (!isErrno(error, 'ENOENT')) throw error
  }
}

function isSameTree({ files }: Store, directory: string, { contentSha256 }: StateRecord): boolean {
  return files.lstat(directory)?.isDirectory() === true && hashTree(files, directory).contentSha256 === contentSha256
}

const isSystemError = (error: unknown): error is Error =>
  error instanceof Error && 'code' in error && /^E[A-Z0-9]+$/.test(String(error.code))

function storeFailure(error: Error, name: string): CairnError {
  if (isErrno(error, 'ENOSPC', 'EDQUOT'))
    return new CairnError('disk.full', `there is no room left for ${name}`, {
      hint: 'Free some space (cairn node gc), then try again.',
      cause: error,
    })
  return new CairnError('store.write-failed', `${name} cannot be written to the store: ${messageOf(error)}`, {
    cause: error,
  })
}
