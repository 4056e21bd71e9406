// A manifest that cannot be read is made again from what says the same elsewhere: the generation's config, its etc state, and
// the backups that lie there. Which directories Cairn made is lost with it, so those are never taken away again.
import { basename, dirname, join } from 'node:path'
import { renameDurably, writeDurably } from '../lib/durable.ts'
import { CairnError } from '../lib/errors.ts'
import type { NodeContext } from './context.ts'
import { destinationOf } from './destination.ts'
import { backupPath } from './etc/backup.ts'
import type { Backup, EtcEntry } from './etc/entry.ts'
import { foundOf } from './etc/look.ts'
import { currentNumber, type Generation, hashOfConfig, readConfigOf, readGeneration } from './generations.ts'
import type { StateName } from './names.ts'

/** Of the generation that runs. Returns a sentence about it, if there was something to do. */
export function mendManifest(context: NodeContext): string[] {
  const { files, layout } = context
  const generation = currentNumber(files, layout)
  if (generation === null || isReadable(context, generation)) return []
  const path = join(layout.generations, String(generation), 'manifest.json')
  const made = makeAgain(context, generation)
  if (files.lstat(path)) renameDurably(files, path, `${path}.corrupt`)
  writeDurably(files, path, `${JSON.stringify(made)}\n`)
  return [`the manifest of generation ${generation} could not be read and was made again`]
}

function isReadable({ files, layout }: NodeContext, generation: number): boolean {
  try {
    readGeneration(files, layout, generation)
    return true
  } catch (error) {
    if (error instanceof CairnError) return false
    throw error
  }
}

function makeAgain(context: NodeContext, generation: number): Generation {
  const { files, layout } = context
  const directory = join(layout.generations, String(generation))
  const etcState = basename(dirname(files.readlink(join(directory, 'etc')))) as StateName
  const config = readConfigOf(files, layout, generation)
  const { entries } = destinationOf(context, { generation, etcState, config })
  return {
    schema: 1,
    generation,
    version: config.version,
    createdAt: files.lstat(join(directory, 'config.json'))!.mtime.toISOString(),
    configSha256: hashOfConfig(config),
    etcState,
    entries,
    directories: [],
    backups: entries.flatMap(entry => backupOf(context, entry)),
  }
}

/** A backup lies there as it was found: its own metadata are those that the manifest had. */
function backupOf({ files, layout }: NodeContext, { target }: EtcEntry): Backup[] {
  for (const what of ['file', 'directory'] as const) {
    const path = backupPath(layout, { target, what })
    const stats = files.lstat(path)
    if (!stats || stats.isDirectory() !== (what === 'directory')) continue
    const { size: _, text: __, ...found } = foundOf(files, path, stats, { hash: true })
    return [{ target, ...found }]
  }
  return []
}
