// The etc-overlay package: one tree of links for all etc files of a config, and the manifest that Apply goes by.
import { dirname, join, relative } from 'node:path'
import { makeDirectories } from '../../lib/durable.ts'
import { ProblemsError } from '../../lib/errors.ts'
import type { Files } from '../../lib/files.ts'
import type { Json } from '../../lib/json.ts'
import type { Problem } from '../../lib/problem.ts'
import { writeNew } from '../../lib/write-new.ts'
import type { CopyEntry, DirectEntry, EtcManifest, LinkEntry } from '../etc/entry.ts'
import type { Layout } from '../layout.ts'
import { byName, type StateName } from '../names.ts'
import type { Package } from '../store/package.ts'
import { type Contents, storeContents } from './contents.ts'

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
      const contents = storeContents(files, layout)
      const problems = entries.flatMap(entry => sourceProblems(contents, entry, reach))
      if (problems.length > 0) throw new ProblemsError(problems)
      layTree(files, directory, entries)
      const manifest = {
        schema: 1,
        entries: entries.map(entry => withHash(contents, entry)),
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

function withHash(contents: Contents, entry: WantedEntry): ManifestEntry {
  if (entry.kind === 'direct') return withoutPlace(entry)
  return { ...withoutPlace(entry), sha256: contents.hashOf(entry) } as ManifestEntry
}

function sourceProblems(contents: Contents, entry: WantedEntry, reach: EtcOverlay['reach']): Problem[] {
  if (entry.kind === 'direct') return []
  const fault = contents.faultOf(entry, [entry.state, ...(reach.get(entry.state) ?? [])])
  if (!fault) return []
  const path = `${entry.declaredAt}.source`
  return [
    fault.is === 'missing'
      ? { code: 'etc.source-missing', path, reason: `${entry.from} has no ${entry.source}` }
      : { code: 'etc.source-escapes', path, reason: `${entry.source} leads out of its package, to ${fault.to}` },
  ]
}
