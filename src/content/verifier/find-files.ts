// What a start finds in the verifier's directories: its own litter goes, good names are read, and all else stays as it is
// and is told, since nobody knows whose it is.
import { join } from 'node:path'
import { removeIfThere } from '../../lib/durable.ts'
import { withoutControls } from '../../lib/redact.ts'
import { wholeNameOf } from '../half-made.ts'
import type { Sha256, VerifierSettings } from '../messages.ts'
import type { BlobFiles } from './do-job.ts'
import { type Ledger, lineOf } from './ledger.ts'
import { isCopyName, parseVerifiedName } from './names.ts'
import type { Tools } from './tools.ts'
import { markOf, type VerifiedFile } from './verified-file.ts'

export function emptyWorkshop({ files, layout }: Pick<Tools, 'files' | 'layout'>) {
  for (const name of files.readdir(layout.verifier))
    if (isCopyName(name) || wholeNameOf(name) !== null) removeIfThere(files, join(layout.verifier, name))
}

export interface Finding {
  readonly rehash: VerifierSettings['rehash']
  readonly ledger: Ledger
  /** Work on these was cut short: what was being looked at is looked at again. */
  readonly interrupted: ReadonlySet<Sha256>
}

/** In the order of their names. */
export function findVerified(tools: Tools, { rehash, ledger, interrupted }: Finding): Map<Sha256, BlobFiles> {
  const { files, layout, log } = tools
  const found = new Map<Sha256, { files: VerifiedFile[]; unchecked: VerifiedFile[] }>()
  const names = files.readdir(layout.verified).sort()
  for (const name of names) {
    const path = join(layout.verified, name)
    const blob = parseVerifiedName(name)
    const stats = blob && files.lstat(path)
    if (!stats?.isFile()) {
      log(`verifier: verified/${withoutControls(name)} is no verified file of ours; it stays and is not used`)
      continue
    }
    const { sha256, mediaType } = blob!
    const line = lineOf(ledger, name, markOf(stats))
    const isTrusted = rehash === 'off' || (rehash === 'changed' && line !== undefined && !interrupted.has(sha256))
    const file = { path, mediaType, mark: markOf(stats), ...(line && { checkedAt: line.checkedAt }) }
    const both = found.get(sha256) ?? { files: [], unchecked: [] }
    both[isTrusted ? 'files' : 'unchecked'].push(file)
    found.set(sha256, both)
  }
  const present = new Set(names)
  for (const name of [...ledger.keys()]) if (!present.has(name)) ledger.delete(name)
  return found
}
