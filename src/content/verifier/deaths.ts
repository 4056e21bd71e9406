// Counts how often the verifier died while it worked on a blob, so that one bad file cannot stop all others for ever.
// A file marks the work while it is under way; found at start, it tells of a death. The marks are not synced: they have to
// outlive the process, and a power cut is no death (the mark names the boot, so that one of an earlier boot does not count).
import { join } from 'node:path'
import { removeIfThere } from '../../lib/durable.ts'
import type { Files } from '../../lib/files.ts'
import { writeNew } from '../../lib/write-new.ts'
import type { Sha256 } from '../messages.ts'
import { readSmall } from './read-blob.ts'

export interface Deaths {
  of(sha256: Sha256): number
  /** Work on these was cut short by whatever ended the last process. */
  readonly interrupted: ReadonlySet<Sha256>
  begin(sha256: Sha256): void
  /** The process lived through it: the count starts anew. */
  end(sha256: Sha256): void
}

/** With so many, a blob is left alone. */
export const deadly = 3

export function readDeaths(files: Files, directory: string, bootId: string): Deaths {
  const counts = new Map<Sha256, number>()
  const marks = files.readdir(directory).flatMap(name => parseMark(name) ?? [])
  for (const { name, kind, sha256, count } of marks) {
    const died = kind === 'working' && readSmall(files, join(directory, name), 1000)?.toString('utf8') === bootId
    counts.set(sha256, Math.max(counts.get(sha256) ?? 0, died ? count + 1 : count))
  }
  const pathOf = (kind: Mark['kind'], sha256: Sha256, count: number) => join(directory, `${kind}.${sha256}.${count}`)
  const known = new Set(marks.map(({ name }) => join(directory, name)))
  for (const [sha256, count] of counts) {
    const path = pathOf('deaths', sha256, count)
    if (count > 0 && !known.delete(path)) writeNew(files, path, '', 0o600)
  }
  for (const path of known) removeIfThere(files, path)

  const of = (sha256: Sha256) => counts.get(sha256) ?? 0
  return {
    of,
    interrupted: new Set(marks.filter(({ kind }) => kind === 'working').map(({ sha256 }) => sha256)),
    begin(sha256) {
      const count = of(sha256)
      removeIfThere(files, pathOf('working', sha256, count))
      writeNew(files, pathOf('working', sha256, count), bootId, 0o600)
      if (count > 0) removeIfThere(files, pathOf('deaths', sha256, count))
    },
    end(sha256) {
      removeIfThere(files, pathOf('working', sha256, of(sha256)))
      removeIfThere(files, pathOf('deaths', sha256, of(sha256)))
      counts.delete(sha256)
    },
  }
}

interface Mark {
  readonly name: string
  readonly kind: 'working' | 'deaths'
  readonly sha256: Sha256
  readonly count: number
}

function parseMark(name: string): Mark | null {
  const [, kind, sha256, count] = /^(working|deaths)\.([0-9a-f]{64})\.(\d{1,6})$/.exec(name) ?? []
  return kind ? { name, kind: kind as Mark['kind'], sha256: sha256 as Sha256, count: Number(count) } : null
}
