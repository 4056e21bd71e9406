// What comes: for each wanted entry, the step that puts it in its place, or the conflict that forbids it.
import { unreachable } from '../../lib/errors.ts'
import type { Problem } from '../../lib/problem.ts'
import { byName, type EtcTarget } from '../names.ts'
import type { EtcAction } from './action.ts'
import type { Backup, EtcEntry } from './entry.ts'
import type { Live } from './live.ts'
import { directory, type Found, type Made, sameMade } from './made.ts'
import type { Departures } from './plan-departures.ts'
import { above, type Ground } from './plan-ground.ts'
import { conflict } from './problems.ts'
import { ancestorsOf } from './target.ts'

export interface Arrivals {
  /** Take-overs, then directories outermost first, then links and copies, then links that become something else. */
  readonly before: readonly EtcAction[]
  /** After the switch, each by one rename. */
  readonly replacements: Steps
  /** A directory that becomes an entry; after what is in it has gone. */
  readonly closings: Steps
  /** An entry that becomes a directory, and what comes into it. */
  readonly openings: Steps
  readonly madeDirectories: readonly EtcTarget[]
  readonly backups: readonly Backup[]
  readonly conflicts: ReadonlyMap<EtcTarget, Problem>
}

type Steps = ReadonlyMap<EtcTarget, EtcAction>
type Is<K extends Live['is']> = Extract<Live, { is: K }>

export function planArrivals(ground: Ground, departures: Departures): Arrivals {
  const { wanted, live, ownedBy, ownedDirectories, backupOf, overwriteDrift, made } = ground
  const before = new Map<EtcTarget, EtcAction>()
  const replacements = new Map<EtcTarget, EtcAction>()
  const closings = new Map<EtcTarget, EtcAction>()
  const openings = new Map<EtcTarget, EtcAction>()
  const conflicts = new Map<EtcTarget, Problem>()
  const hasRoom = roomForBackups(departures.keptBackups)
  const aboveOwned = above([...ownedBy.keys(), ...backupOf.keys()])
  const aboveBackups = above(backupOf.keys())

  /** `into` is where a step goes that adds: before the switch, or among the openings. */
  const settle = (entry: EtcEntry, found: Live, into: Map<EtcTarget, EtcAction>) => {
    const { target } = entry
    const put = made(entry)
    switch (found.is) {
      case 'absent':
        makeDirectories(found.missing, into)
        return into.set(target, addition(target, put, ownedBy.has(target) ? 'went missing' : 'new'))
      case 'ours': {
        if (sameMade(found.made, put)) return
        // Static may lead nowhere for a target that is no longer a link, so that one changes before the switch.
        const when = into === openings || found.made.kind === 'link' ? into : replacements
        return when.set(target, { do: 'replace', target, was: found.made, put })
      }
      case 'edited':
      case 'foreign':
        return settleOccupied(entry, found, into)
      case 'directory':
        return settleDirectory(entry, found, into)
      case 'bad-parent':
        return settleBelow(entry, found, into)
      default:
        return unreachable(found)
    }
  }

  const settleOccupied = (entry: EtcEntry, found: Is<'edited' | 'foreign'>, into: Map<EtcTarget, EtcAction>) => {
    const { target } = entry
    const recorded = ownedBy.get(target)
    if (recorded && overwriteDrift.has(target) && found.found.what !== 'special')
      replacements.set(target, { do: 'replace', target, was: made(recorded), put: made(entry), over: found.found })
    else if (entry.replaceExisting && hasRoom(target, found.found))
      into.set(target, takeOver(target, found.found, made(entry)))
    else refuse(entry, found)
  }

  /** Fine when only ours is in it. If the directory itself is not ours, it is kept like any other thing taken over. */
  const settleDirectory = (entry: EtcEntry, found: Is<'directory'>, into: Map<EtcTarget, EtcAction>) => {
    const { target } = entry
    const { ours, foreign, directories } = found.holds
    const isOurs = ours.length > 0 || ownedDirectories.has(target)
    const onlyOurs = into !== openings && isOurs && foreign.length === 0 && !aboveBackups.has(target)
    if (onlyOurs && ours.every(each => ownedBy.has(each)) && directories.every(each => ownedDirectories.has(each)))
      closings.set(target, { do: 'replace', target, was: directory, put: made(entry) })
    else if ((onlyOurs || entry.replaceExisting) && hasRoom(target, found.found)) {
      const goesFirst = into !== openings && (ours.length > 0 || aboveOwned.has(target))
      if (goesFirst) for (const each of ours) if (!ownedBy.has(each)) closings.set(each, strayRemoval(each))
      const when = goesFirst ? closings : into
      when.set(target, takeOver(target, found.found, made(entry)))
    } else refuse(entry, found)
  }

  const settleBelow = (entry: EtcEntry, found: Is<'bad-parent'>, into: Map<EtcTarget, EtcAction>) => {
    const { target } = entry
    const { parent, found: stands, behind } = found
    const backup = backupOf.get(parent)
    const between = ancestorsOf(target).filter(path => path.startsWith(`${parent}/`))
    if (behind && backup) {
      const was = stands.is === 'ours' ? stands.made : directory
      openings.set(parent, { do: 'give-back', target: parent, backup, was })
      settle(entry, behind, openings)
    } else if (stands.is === 'ours') {
      openings.set(parent, { do: 'replace', target: parent, was: stands.made, put: directory })
      settle(entry, { is: 'absent', missing: between }, openings)
    } else if (
      entry.replaceExisting &&
      (stands.is === 'foreign' || stands.is === 'edited') &&
      hasRoom(parent, stands.found)
    ) {
      into.set(parent, takeOver(parent, stands.found, directory))
      settle(entry, { is: 'absent', missing: between }, into)
    } else refuse(entry, found)
  }

  const makeDirectories = (missing: readonly EtcTarget[], into: Map<EtcTarget, EtcAction>) => {
    for (const target of missing) if (!into.has(target)) into.set(target, addition(target, directory, 'new'))
  }
  const refuse = (entry: EtcEntry, found: Live) => {
    const again = backupOf.has(found.is === 'bad-parent' ? found.parent : entry.target)
    conflicts.set(entry.target, conflict(entry, found, { now: live.readAt, again }))
  }

  for (const entry of wanted.entries) settle(entry, live.targets.get(entry.target)!, before)

  const steps = [...before.values(), ...closings.values(), ...openings.values()]
  return {
    before: [...before.values()].sort(byRank),
    replacements,
    closings,
    openings,
    madeDirectories: steps.flatMap(step => ('put' in step && step.put.kind === 'directory' ? step.target : [])),
    backups: steps.flatMap(step => (step.do === 'take-over' ? step.backup : [])),
    conflicts,
  }
}

/** One backup for a target; those that are no directories lie at their target's path, so none may lie above another. */
function roomForBackups(kept: readonly Backup[]): (target: EtcTarget, found: Found) => boolean {
  const all = new Set(kept.map(({ target }) => target))
  const atTheirPath = new Set(kept.filter(({ what }) => what !== 'directory').map(({ target }) => target))
  const aboveThem = above(atTheirPath)
  return (target, { what }) => {
    if (all.has(target)) return false
    return what === 'directory' || !(aboveThem.has(target) || ancestorsOf(target).some(path => atTheirPath.has(path)))
  }
}

function byRank(a: EtcAction, b: EtcAction): number {
  const rank = (action: EtcAction) => {
    if (action.do === 'take-over') return 0
    if (action.do !== 'add') return 3
    return action.put.kind === 'directory' ? 1 : 2
  }
  return rank(a) - rank(b) || byName(pathOf(a), pathOf(b))
}

const pathOf = (action: EtcAction) => ('target' in action ? action.target : '')

const addition = (target: EtcTarget, put: Made, why: 'new' | 'went missing'): EtcAction => ({
  do: 'add',
  target,
  put,
  why,
})

const strayRemoval = (target: EtcTarget): EtcAction => ({ do: 'remove', target, was: { kind: 'link' }, why: 'stray' })

const takeOver = (target: EtcTarget, found: Found, put: Made): EtcAction => {
  const { size: _size, text: _text, ...record } = found
  return { do: 'take-over', target, backup: { target, ...record }, put }
}
