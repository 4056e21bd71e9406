// Reads what stands in /etc at every path that matters, and says whose it is. Changes nothing; follows no link.
// Holds: one lstat and one readlink for a link, each directory above is looked at once, and only copies are hashed.
// Ours is what is recorded, never what has equal content; a link through static with the exact text is ours by that text.
import { dirname, join } from 'node:path'
import { litterPrefix } from '../../lib/durable.ts'
import type { Files } from '../../lib/files.ts'
import { etcPath, type Layout, linkThroughStatic } from '../layout.ts'
import { byName, type EtcTarget, type StateName } from '../names.ts'
import { staticState } from '../static.ts'
import { backupPath, isBackedUp } from './backup.ts'
import type { EtcEntry, OwnedEtc } from './entry.ts'
import { foundOf, hashOfFile, metadataChanged } from './look.ts'
import { type Found, type Made, type MadeCopy, madeOf } from './made.ts'
import type { WantedEtc } from './owned.ts'
import type { OwnerIds } from './owners.ts'
import { ancestorsOf } from './target.ts'

export type Live =
  /** `missing`: the directories above it that lack too, outermost first. */
  | { readonly is: 'absent'; readonly missing: readonly EtcTarget[] }
  /** As recorded, or already as wanted at a path that is recorded. */
  | { readonly is: 'ours'; readonly made: Made }
  | { readonly is: 'edited'; readonly changed: readonly Aspect[]; readonly found: Found }
  | { readonly is: 'foreign'; readonly found: Found }
  | { readonly is: 'directory'; readonly found: Found; readonly holds: Holds }
  /** The outermost thing above it that is not a directory. `behind`: what stands here once the parent is given back. */
  | { readonly is: 'bad-parent'; readonly parent: EtcTarget; readonly found: Live; readonly behind?: Live }

export type Aspect = 'content' | 'mode' | 'owner'

/** What is in a directory, all the way down. */
export interface Holds {
  readonly ours: readonly EtcTarget[]
  readonly foreign: readonly EtcTarget[]
  /** Itself and those in it. */
  readonly directories: readonly EtcTarget[]
}

export interface LiveEtc {
  /** `other`: a link or a file, into which nothing may be put. */
  readonly etc: 'directory' | 'absent' | 'other'
  readonly static: StateName | null
  /** For every target that is wanted, owned or backed up. */
  readonly targets: ReadonlyMap<EtcTarget, Live>
  /** Names in those directories of ours that are no longer needed; our litter left out. */
  readonly directories: ReadonlyMap<EtcTarget, readonly string[]>
  /** Recorded backups that are really there. */
  readonly backups: ReadonlySet<EtcTarget>
  readonly readAt: Date
}

export interface EtcView {
  readonly wanted: WantedEtc
  readonly owned: OwnedEtc
  readonly ids: OwnerIds
  /** Targets that Cairn may put right although someone edited or replaced them. */
  readonly overwriteDrift: ReadonlySet<EtcTarget>
}

export function readLive(files: Files, layout: Layout, view: EtcView, now: Date): LiveEtc {
  const { wanted, owned } = view
  const etc = files.lstat(layout.etc)
  const look = looker(files, layout, view)
  const paths = new Set([...wanted.entries, ...owned.entries, ...owned.backups].map(({ target }) => target))
  const needed = new Set(wanted.entries.flatMap(({ target }) => ancestorsOf(target)))
  const unneeded = (owned.directories as readonly EtcTarget[]).filter(directory => !needed.has(directory))
  return {
    etc: etc === null ? 'absent' : etc.isDirectory() ? 'directory' : 'other',
    static: staticState(files, layout),
    targets: new Map([...paths].map(target => [target, look.at(target)])),
    directories: new Map(
      unneeded
        .filter(look.isDirectory)
        .map(directory => [directory, files.readdir(etcPath(layout, directory)).filter(name => !isLitter(name))]),
    ),
    backups: new Set(owned.backups.filter(backup => isBackedUp(files, layout, backup)).map(({ target }) => target)),
    readAt: now,
  }
}

type Parent = { readonly is: 'directory' } | Extract<Live, { is: 'absent' | 'bad-parent' }>

/** Looks below /etc, or at what a directory in the backup will bring back below `behind.directory`. */
function looker(files: Files, layout: Layout, view: EtcView, behind?: { directory: EtcTarget; path: string }) {
  const { wanted, owned, ids, overwriteDrift } = view
  const wantedBy = new Map(wanted.entries.map(entry => [entry.target, entry]))
  const ownedBy = new Map(owned.entries.map(entry => [entry.target, entry]))
  const directoryBackups = new Map(
    owned.backups.filter(({ what }) => what === 'directory' && !behind).map(backup => [backup.target, backup]),
  )
  const parents = new Map<string, Parent>([[behind?.directory ?? '.', { is: 'directory' }]])
  const behindOf = new Map<EtcTarget, ReturnType<typeof looker>>()
  const pathOf = (target: EtcTarget) =>
    behind ? join(behind.path, target.slice(behind.directory.length + 1)) : etcPath(layout, target)

  const at = (target: EtcTarget): Live => {
    const entry = wantedBy.get(target)
    const parent = parentAt(dirname(target), entry)
    if (parent.is === 'directory') return whatIs(target, entry)
    const comingBack = parent.is === 'bad-parent' && behindOf.get(parent.parent)
    return comingBack ? { ...parent, behind: comingBack.at(target) } : parent
  }

  const parentAt = (path: string, below: EtcEntry | undefined): Parent => {
    const known = parents.get(path)
    if (known) return known
    const directory = path as EtcTarget
    const above = parentAt(dirname(path), below)
    const parent = above.is === 'directory' ? lookForDirectory(directory, below) : beyond(above, directory)
    parents.set(path, parent)
    return parent
  }

  const lookForDirectory = (path: EtcTarget, below: EtcEntry | undefined): Parent => {
    const stats = files.lstat(pathOf(path))
    if (stats?.isDirectory()) return { is: 'directory' }
    const found = stats ? whatIs(path, below) : ({ is: 'absent', missing: [] } as const)
    const backup = directoryBackups.get(path)
    const comesBack = backup && (found.is === 'ours' || found.is === 'absent') && isBackedUp(files, layout, backup)
    if (comesBack)
      behindOf.set(path, looker(files, layout, view, { directory: path, path: backupPath(layout, backup) }))
    return stats || comesBack ? { is: 'bad-parent', parent: path, found } : { is: 'absent', missing: [path] }
  }

  /** `entry` is the one that wants the path: its flags say whether the bytes of a foreign file may be needed. */
  const whatIs = (target: EtcTarget, entry: EtcEntry | undefined): Live => {
    const path = pathOf(target)
    const stats = files.lstat(path)
    if (!stats) return { is: 'absent', missing: [] }
    const found = () =>
      foundOf(files, path, stats, { hash: entry?.replaceExisting === true || overwriteDrift.has(target) })
    if (stats.isDirectory())
      return { is: 'directory', found: found(), holds: wantedBy.has(target) ? holdsOf(target) : nothing }

    if (stats.isSymbolicLink()) {
      const text = files.readlink(path)
      if (text === linkThroughStatic(layout, target)) return oursByText
      const made = candidatesFor(target).find(candidate => candidate.kind === 'direct' && candidate.text === text)
      return made ? { is: 'ours', made } : { is: 'foreign', found: found() }
    }
    const copies = candidatesFor(target).filter((candidate): candidate is MadeCopy => candidate.kind === 'copy')
    if (!stats.isFile() || copies.length === 0) return { is: 'foreign', found: found() }
    const sha256 = hashOfFile(files, path)
    const changedFrom = (copy: MadeCopy): Aspect[] => [
      ...(copy.sha256 === sha256 ? [] : ['content' as const]),
      ...metadataChanged(stats, copy),
    ]
    const made = copies.find(copy => changedFrom(copy).length === 0)
    if (made) return { is: 'ours', made }
    const recorded = ownedBy.get(target)
    if (recorded?.kind !== 'copy') return { is: 'foreign', found: found() }
    return { is: 'edited', changed: changedFrom(madeOf(recorded, ids) as MadeCopy), found: { ...found(), sha256 } }
  }

  /** Nothing at a path that is not recorded is ours by its content. */
  const candidatesFor = (target: EtcTarget): Made[] => {
    const recorded = ownedBy.get(target)
    const entry = wantedBy.get(target)
    return recorded ? [...(entry ? [entry] : []), recorded].map(each => madeOf(each, ids)) : []
  }

  const holdsOf = (top: EtcTarget): Holds => {
    const holds = { ours: [] as EtcTarget[], foreign: [] as EtcTarget[], directories: [top] }
    const walk = (directory: EtcTarget) => {
      for (const entry of files.readdirTypes(pathOf(directory)).sort((a, b) => byName(a.name, b.name))) {
        if (isLitter(entry.name)) continue
        const child = `${directory}/${entry.name}` as EtcTarget
        if (entry.isDirectory()) {
          holds.directories.push(child)
          walk(child)
        } else if (whatIs(child, undefined).is === 'ours') holds.ours.push(child)
        else holds.foreign.push(child)
      }
    }
    walk(top)
    return holds
  }

  const isDirectory = (path: EtcTarget) => parentAt(path, undefined).is === 'directory'

  return { at, isDirectory }
}

const isLitter = (name: string) => name.startsWith(litterPrefix)

const oursByText: Live = { is: 'ours', made: { kind: 'link' } }

const nothing: Holds = { ours: [], foreign: [], directories: [] }

/** What a missing or bad parent means for a directory further down. */
const beyond = (above: Exclude<Parent, { is: 'directory' }>, directory: EtcTarget): Parent =>
  above.is === 'absent' ? { is: 'absent', missing: [...above.missing, directory] } : above
