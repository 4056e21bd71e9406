// Takes the whole store away at the end of an uninstall: packages and generations, which can be made again, and content,
// which can be fetched again. A volume can be neither: while there is one, nothing is taken away and nothing is changed.
import { dirname, join } from 'node:path'
import { type ContentLayout, contentLayoutOf } from '../content/layout.ts'
import { removeTree } from '../lib/durable.ts'
import { isErrno, RefusedError } from '../lib/errors.ts'
import type { Files } from '../lib/files.ts'
import { acquireLock, type Lock } from '../lib/lock.ts'
import type { NodeContext } from './context.ts'

export interface Purge {
  remove(): void
  /** The content processes may start again. */
  release(): void
}

/** Refuses while there are volumes, or content processes that could make one; they stay out until it is released. */
export async function beginPurge({ files, layout, clock }: NodeContext, command: string): Promise<Purge> {
  const base = dirname(layout.current)
  const content = contentLayoutOf({ base, run: join(layout.prefix || '/', 'run/cairn') })
  const lock = await keepContentOut(files, content, { command, clock })
  const volumes = volumesIn(files, content)
  if (volumes.length > 0) {
    lock?.release()
    throw dataLoss(volumes)
  }
  return {
    remove: () => {
      removeTree(files, base)
      removeTree(files, content.run)
      if (layout.prefix !== '') removeIfEmpty(files, dirname(content.run))
    },
    release: () => lock?.release(),
  }
}

/** Null where they have never run. */
async function keepContentOut(
  files: Files,
  { run }: ContentLayout,
  options: Pick<NodeContext, 'clock'> & { command: string },
) {
  if (!files.lstat(run)) return null
  return acquireLock(join(run, 'supervisor.lock'), options).catch((error): Lock => {
    if (!(error instanceof RefusedError) || error.code !== 'lock.busy') throw error
    throw new RefusedError(error.code, `the content processes of this store are running: ${error.message}`, {
      hint: 'Stop cairn node daemon, then purge.',
      cause: error,
    })
  })
}

/** Whatever lies there, known or not; a read-only volume has a record only. */
function volumesIn(files: Files, { volumes }: ContentLayout): string[] {
  const records = namesIn(files, join(volumes, 'records')).map(name => name.replace(/\.json$/, ''))
  const found = namesIn(files, volumes).filter(name => name !== 'records')
  return [...new Set([...found, ...records])].sort()
}

const namesIn = (files: Files, directory: string): string[] => (files.lstat(directory) ? files.readdir(directory) : [])

function removeIfEmpty(files: Files, directory: string) {
  try {
    files.rmdir(directory)
  } catch (error) {
    if (!isErrno(error, 'ENOTEMPTY', 'ENOENT')) throw error
  }
}

const dataLoss = (volumes: readonly string[]) =>
  new RefusedError('volume.data-loss', `The store holds volumes, which would be lost: ${volumes.join(', ')}.`, {
    hint: 'cairn volume rm NAME --allow-data-loss takes one away. Without --purge the store stays as it is.',
  })
