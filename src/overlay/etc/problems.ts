// Every mistake about /etc that a person can make, one function a code.
import type { Problem, Warning } from '../../lib/problem.ts'
import { relativeTime } from '../../lib/relative-time.ts'
import { printSize } from '../../lib/size.ts'
import type { EtcTarget } from '../names.ts'
import type { CopyEntry, EtcEntry } from './entry.ts'
import type { Aspect, Live } from './live.ts'
import type { Found } from './made.ts'
import type { Declared } from './target.ts'

export const invalidTarget = (text: string, at: string, fault: string): Problem => ({
  code: 'etc.target-invalid',
  path: at,
  reason: `the target ${quoted(text)} ${fault}`,
  hint: text.startsWith('/etc/')
    ? `Write ${quoted(text.slice('/etc/'.length))}.`
    : 'Write a path below /etc, such as nginx/nginx.conf.',
})

export const invalidSource = (text: string, at: string, fault: string): Problem => ({
  code: 'etc.source-invalid',
  path: at,
  reason: `the source ${quoted(text)} ${fault}`,
  hint: 'Write a path inside the package, such as etc/nginx.conf.',
})

export const duplicateTarget = (entry: Declared, other: Declared): Problem => ({
  code: 'etc.duplicate-target',
  path: entry.declaredAt,
  reason: `/etc/${entry.target} is declared by ${named(other)} and again by ${named(entry)}`,
  hint: 'Let one of them declare it; equal content does not make two owners.',
})

export const prefixConflict = (entry: Declared, above: Declared): Problem => ({
  code: 'etc.prefix-conflict',
  path: entry.declaredAt,
  reason: `/etc/${entry.target} of ${named(entry)} lies below /etc/${above.target}, which ${named(above)} declares as a whole`,
  hint: 'A path is either one entry or a directory of entries: rename one of the two.',
})

export const protectedTarget = (entry: Declared): Problem => ({
  code: 'etc.protected',
  path: entry.declaredAt,
  reason: `/etc/${entry.target} is protected: a wrong one can lock people out of the machine, or let them in`,
  hint: `If ${named(entry)} is to own it, set allowProtected: true on ${entry.declaredAt}.`,
})

export const invalidMode = (text: string, at: string): Problem => ({
  code: 'etc.mode-invalid',
  path: at,
  reason: `${quoted(text)} is not a file mode`,
  hint: 'Write up to four octal digits, such as "0640".',
})

export const setIdNeedsOptIn = (text: string, at: string): Problem => ({
  code: 'etc.protected',
  path: at,
  reason: `the mode ${text} lets whoever runs the file act as its owner or group`,
  hint: 'If that is meant, set allowProtected: true on the entry.',
})

export const unknownOwner = (entry: CopyEntry, field: 'owner' | 'group', name: string): Problem => ({
  code: 'etc.unknown-owner',
  path: `${entry.declaredAt}.${field}`,
  reason: `the machine has no ${field === 'owner' ? 'user' : 'group'} ${quoted(name)}`,
  hint: /^\d+$/.test(name) ? `For the number, write "+${name}".` : 'Make it first, or write its number as "+1000".',
})

export const ownerNotPermitted = (entry: CopyEntry, field: 'owner' | 'group', name: string): Problem => ({
  code: 'etc.owner-not-permitted',
  path: `${entry.declaredAt}.${field}`,
  reason: `only root may give /etc/${entry.target} to the ${field === 'owner' ? 'user' : 'group'} ${quoted(name)}`,
  hint: `Run this as root, or leave out ${field}.`,
})

export const etcIsNotADirectory = (): Problem => ({
  code: 'etc.not-a-directory',
  path: '',
  reason: '/etc is a link or a file, not a directory',
  hint: 'Cairn writes only into a real directory; if a link was meant, use --root with what it leads to.',
})

/** `again`: something of this path is in the backup already, so this one cannot be kept too. */
export function conflict(entry: EtcEntry, live: Live, { now, again }: { now: Date; again: boolean }): Problem {
  return {
    code: 'etc.conflict',
    path: entry.declaredAt,
    reason: conflictReason(entry, live, now),
    hint: conflictHint(entry, live, again),
  }
}

function conflictReason({ target }: EtcEntry, live: Live, now: Date): string {
  switch (live.is) {
    case 'edited':
      return `/etc/${target} was changed since Cairn wrote it (${changes(live.changed)}, ${relativeTime(new Date(live.found.mtimeMs), now)})`
    case 'directory':
      return `/etc/${target} is a directory and was not made by Cairn alone (${contents(live.holds.foreign)})`
    case 'bad-parent':
      return `/etc/${target} cannot be placed: /etc/${live.parent} is ${whatStands(live.found, now)} and was not made by Cairn`
    default:
      return `/etc/${target} exists and was not made by Cairn (${whatStands(live, now)})`
  }
}

function conflictHint({ target, declaredAt }: EtcEntry, live: Live, again: boolean): string {
  const replaceExisting = `set replaceExisting: true on ${declaredAt}; Cairn keeps a backup and gives it back on uninstall`
  // Units have no such field.
  const canReplace = /\.etcFiles\[\d+\]$/.test(declaredAt) && !again
  if (live.is === 'edited' || (again && live.is === 'foreign'))
    return `Take the change into ${declaredAt || 'the config'}, or replace it with --overwrite-drift ${target}.`
  return canReplace ? `Move it away, or ${replaceExisting}.` : 'Move it away.'
}

/** Stale, but no longer as Cairn made it: left, and the person told. */
export const leftInPlace = (target: EtcTarget, live: Live, now: Date): Warning => ({
  code: 'etc.left-in-place',
  path: '',
  reason: `/etc/${target} is no longer declared, but it was changed or replaced (${whatStands(live, now)}); it was left`,
  hint: 'Remove it by hand if nobody needs it.',
})

export const backupKept = (target: EtcTarget): Warning => ({
  code: 'etc.backup-kept',
  path: '',
  reason: `what stood at /etc/${target} before Cairn cannot be given back, because something else is there now`,
  hint: `It stays in the store under etc/backup/${target}, and comes back when the path is free.`,
})

export const backupLost = (target: EtcTarget): Warning => ({
  code: 'etc.backup-lost',
  path: '',
  reason: `what stood at /etc/${target} before Cairn cannot be given back: its backup is gone`,
})

export const aliasLeft = (target: EtcTarget, text: string): Warning => ({
  code: 'etc.alias-left',
  path: '',
  reason: `/etc/${target} leads into the store (${quoted(text)}), but Cairn did not make it; it was left`,
})

/** `a file, 1.2 kB, changed 3 days ago` */
export function whatStands(live: Live, now: Date): string {
  switch (live.is) {
    case 'absent':
      return 'nothing'
    case 'ours':
      return `a ${live.made.kind} of Cairn`
    case 'bad-parent':
      return `/etc/${live.parent} above it is ${whatStands(live.found, now)}`
    case 'edited':
      return `${changes(live.changed)}`
    case 'foreign':
    case 'directory':
      return describe(live.found, now)
  }
}

function describe({ what, size, text, mtimeMs }: Found, now: Date): string {
  if (what === 'link') return `a link to ${quoted(text ?? '')}`
  if (what === 'special') return 'a device, pipe or socket'
  const age = `changed ${relativeTime(new Date(mtimeMs), now)}`
  return what === 'file' ? `a file, ${printSize(size)}, ${age}` : `a directory, ${age}`
}

const changes = (changed: readonly Aspect[]) => `${changed.join(', ')} changed`

function contents(foreign: readonly EtcTarget[]): string {
  const [first, ...more] = foreign
  if (first === undefined) return 'nothing of Cairn is in it'
  return more.length === 0 ? `it holds ${first}` : `it holds ${first} and ${more.length} more`
}

const named = ({ from }: Declared) => quoted(from)

/** Names from outside may hold anything; a message shows them on one line. */
const quoted = (text: string) => JSON.stringify(text)
