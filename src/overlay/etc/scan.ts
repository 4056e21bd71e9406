// Walks /etc for what a lost manifest or a killed apply left: links into static, and temporary files of ours.
// Bounded in depth, follows no link, passes over what it may not read.
import { dirname, join, normalize } from 'node:path/posix'
import { litterPrefix, removeTree } from '../../lib/durable.ts'
import { isErrno } from '../../lib/errors.ts'
import type { Files } from '../../lib/files.ts'
import type { Layout } from '../layout.ts'
import { byName, type EtcTarget } from '../names.ts'

export interface EtcScan {
  /** Links that lead into static, those of the current generation among them. In order of target. */
  readonly links: readonly ScannedLink[]
  /** Paths below /etc. */
  readonly litter: readonly string[]
}

export interface ScannedLink {
  readonly target: EtcTarget
  readonly text: string
  /** It leads to its own name in static, as every link does that Cairn makes; another may be somebody's alias. */
  readonly own: boolean
}

const deepest = 16

export function scanEtc(files: Files, layout: Layout): EtcScan {
  const links: ScannedLink[] = []
  const litter: string[] = []
  const staticPath = join(layout.store, 'etc/static')
  walk(files, layout.etc, (path, isLink) => {
    if (isLitter(path)) litter.push(path)
    else if (isLink) {
      const target = path as EtcTarget
      const text = files.readlink(join(layout.etc, path))
      const leadsTo = normalize(text.startsWith('/') ? text : join('/etc', dirname(path), text))
      if (leadsTo === staticPath || leadsTo.startsWith(`${staticPath}/`))
        links.push({ target, text, own: leadsTo === join(staticPath, target) })
    }
  })
  return { links: links.sort((a, b) => byName(a.target, b.target)), litter: litter.sort(byName) }
}

/** Removes our temporary files from /etc and from beside static and the backups. Returns how many there were. */
export function sweepLitter(files: Files, layout: Layout): number {
  let swept = 0
  for (const root of [layout.etc, dirname(layout.static)])
    walk(files, root, path => {
      if (!isLitter(path)) return
      removeTree(files, join(root, path))
      swept++
    })
  return swept
}

const isLitter = (path: string) => path.slice(path.lastIndexOf('/') + 1).startsWith(litterPrefix)

/** Calls back with paths relative to `root`; does not go into litter. */
function walk(files: Files, root: string, visit: (path: string, isLink: boolean) => void, at = '', depth = 0) {
  if (depth >= deepest) return
  for (const entry of entriesOf(files, join(root, at))) {
    const path = join(at, entry.name)
    visit(path, entry.isSymbolicLink())
    if (entry.isDirectory() && !isLitter(path)) walk(files, root, visit, path, depth + 1)
  }
}

function entriesOf(files: Files, directory: string) {
  try {
    return files.readdirTypes(directory)
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ENOTDIR', 'EACCES')) return []
    throw error
  }
}
