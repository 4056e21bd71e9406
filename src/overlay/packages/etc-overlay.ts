// The etc-overlay package: one tree of links for all etc files of a config, and the manifest that Apply goes by.
import { realpathSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { makeDirectories } from '../../lib/durable.ts'
import { ProblemsError } from '../../lib/errors.ts'
import type { Files } from '../../lib/files.ts'
import { type Json, sha256Hex } from '../../lib/json.ts'
import type { Problem } from '../../lib/problem.ts'
import { writeNew } from '../../lib/write-new.ts'
import type { CopyEntry, DirectEntry, EtcManifest, LinkEntry } from '../etc/entry.ts'
import type { Layout } from '../layout.ts'
import { byName, type Sha256, type StateName } from '../names.ts'
import type { Package } from '../store/package.ts'
import { hashTree } from '../store/tree.ts'

/** An entry whose content has not been looked at yet. */
export type WantedEntry = Omit<LinkEntry, 'sha256'> | Omit<CopyEntry, 'sha256'> | DirectEntry

export interface EtcOverlay {
  readonly entries: readonly WantedEntry[]
  /** State -> the declared dependencies that its links may lead into. */
  readonly reach: ReadonlyMap<StateName, readonly StateName[]>
}

export function etcOverlayPackage(layout: Layout, { entries: wanted, reach }: EtcOverlay): Package {
  const entries = [...wanted].sort((a, b) => byName(a.target, b.target))
  return {
    kind: 'etc-overlay',
    name: 'etc',
    version: '1',
    inputs: entries.map(withoutPlace) as unknown as Json,
    references: [...new Set(entries.flatMap(entry => ('state' in entry ? [entry.state] : [])))].sort(byName),
    async build(directory, { files }) {
      const problems = entries.flatMap(entry => sourceProblems(layout, entry, reach))
      if (problems.length > 0) throw new ProblemsError(problems)
      layTree(files, directory, entries)
      const manifest = {
        schema: 1,
        entries: entries.map(entry => withHash(files, layout, entry)),
      } satisfies EtcManifest
      writeNew(files, join(directory, 'manifest.json'), `${JSON.stringify(manifest)}\n`)
      return {}
    },
  }
}

/** `declaredAt` is for messages; where in a file an entry stands must not change what is built. */
function withoutPlace<E extends WantedEntry>({ declaredAt: _, ...entry }: E): Omit<E, 'declaredAt'> {
  return entry
}

function layTree(files: Files, directory: string, entries: readonly WantedEntry[]) {
  makeDirectories(files, join(directory, 'etc'))
  const made = new Set<string>()
  for (const entry of entries) {
    const path = join('etc', entry.target)
    const parent = dirname(path)
    if (!made.has(parent)) makeDirectories(files, join(directory, parent))
    made.add(parent)
    files.symlink(entry.kind === 'direct' ? entry.text : linkText(parent, entry), join(directory, path))
  }
}

/** From a directory of this state into another: right wherever the store lies. */
const linkText = (parent: string, { state, source }: { state: StateName; source: string }) =>
  relative(join('/states/this', parent), join('/states', state, source))

type ManifestEntry = EtcManifest['entries'][number]

function withHash(files: Files, layout: Layout, entry: WantedEntry): ManifestEntry {
  if (entry.kind === 'direct') return withoutPlace(entry)
  return { ...withoutPlace(entry), sha256: contentHash(files, layout, entry) } as ManifestEntry
}

/** Of a file's bytes, or of the tree when it is a directory. */
export function contentHash(
  files: Files,
  layout: Layout,
  { state, source }: { state: StateName; source: string },
): Sha256 {
  const path = realpathSync.native(join(layout.states, state, source))
  const isDirectory = files.lstat(path)?.isDirectory()
  return (isDirectory ? hashTree(files, path).contentSha256 : sha256Hex(files.readFile(path))) as Sha256
}

function sourceProblems(layout: Layout, entry: WantedEntry, reach: EtcOverlay['reach']): Problem[] {
  if (entry.kind === 'direct') return []
  const path = `${entry.declaredAt}.source`
  try {
    const states = realpathSync.native(layout.states)
    const found = realpathSync.native(join(states, entry.state, entry.source))
    const allowed = [entry.state, ...(reach.get(entry.state) ?? [])]
    if (allowed.some(state => `${found}${sep}`.startsWith(join(states, state) + sep))) return []
    const reason = `${entry.source} leads out of its package, to ${relative(states, found)}`
    return [{ code: 'etc.source-escapes', path, reason }]
  } catch {
    return [{ code: 'etc.source-missing', path, reason: `${entry.from} has no ${entry.source}` }]
  }
}
