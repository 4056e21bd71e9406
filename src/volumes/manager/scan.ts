// Looks at volumes/ once, at start: what is half-made is removed, what has the name of a volume is found, everything else is
// told and never touched. What only the container runtime still holds is found too, so that it is not held for ever.
import { basename, join } from 'node:path'
import type { ManagerContext } from '../../content/process/calls.ts'
import { removeTree } from '../../lib/durable.ts'
import { isErrno, messageOf } from '../../lib/errors.ts'
import { isTemporaryName, parseVolumeName, readVolumeRecord, recordPath, type VolumeRecord } from '../names.ts'
import type { FoundVolume } from '../switchboard/protocol.ts'

export function scanVolumes(context: ManagerContext): FoundVolume[] {
  const { files, layout, clock, log } = context
  const bootedAt = clock.now().getTime() - clock.monotonicMs()
  const found: FoundVolume[] = []
  for (const name of namesIn(context, layout.volumes)) {
    const path = join(layout.volumes, name)
    if (isTemporaryName(name)) {
      sweep(context, path)
      continue
    }
    const parsed = parseVolumeName(name)
    const stats = parsed && files.lstat(path)
    const isDirectory = stats?.isDirectory() === true
    if (
      !parsed ||
      !stats ||
      !(isDirectory ? parsed.format === undefined : stats.isFile() && parsed.format !== undefined)
    ) {
      if (name !== 'records') log(`${path} is not the name of a volume; it is left alone`)
      continue
    }
    const { mtimeMs, blocks } = stats
    found.push({
      name,
      parsed,
      path,
      isDirectory,
      usedSize: blocks * 512,
      lastUse: new Date(mtimeMs).toISOString(),
      preReboot: mtimeMs < bootedAt,
      record: readRecord(context, name),
      isOrphan: false,
    })
  }
  for (const name of namesIn(context, join(layout.volumes, 'records')))
    if (isTemporaryName(name)) sweep(context, join(layout.volumes, 'records', name))
  return found
}

/** Of what the runtime holds, that which has no directory any more. */
export function orphansOf(
  context: ManagerContext,
  held: readonly string[],
  found: readonly FoundVolume[],
): FoundVolume[] {
  const known = new Set(found.map(({ name }) => name))
  return held.flatMap(target => {
    const name = basename(target)
    const parsed = parseVolumeName(name)
    if (known.has(name) || !parsed || parsed.format !== undefined) return []
    return [
      {
        name,
        parsed,
        path: join(context.layout.volumes, name),
        isDirectory: true,
        usedSize: 0,
        lastUse: context.clock.now().toISOString(),
        preReboot: true,
        record: readRecord(context, name),
        isOrphan: true,
      },
    ]
  })
}

function sweep({ files, log }: ManagerContext, path: string) {
  try {
    removeTree(files, path)
  } catch (error) {
    log(`${path} is half-made and cannot be removed: ${messageOf(error)}`)
  }
}

function readRecord({ files, layout }: ManagerContext, name: string): VolumeRecord | null {
  const path = recordPath(layout.volumes, name)
  return files.lstat(path)?.isFile() ? readVolumeRecord(files.readFile(path).toString('utf8')) : null
}

function namesIn({ files }: ManagerContext, directory: string): string[] {
  try {
    return files.readdir(directory).sort()
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return []
    throw error
  }
}
