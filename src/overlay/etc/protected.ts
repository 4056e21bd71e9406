// Paths in /etc that can lock people out or let them in. Cairn takes one only when its entry says allowProtected.
import type { Problem } from '../../lib/problem.ts'
import type { EtcTarget } from '../names.ts'
import { protectedTarget } from './problems.ts'
import { ancestorsOf, type Declared } from './target.ts'

const protectedPaths = [
  'passwd',
  'group',
  'shadow',
  'gshadow',
  'subuid',
  'subgid',
  'sudoers',
  'sudoers.d',
  'ssh/sshd_config',
  'fstab',
  'crypttab',
  'machine-id',
  'hostname',
  'hosts',
  'resolv.conf',
  'pam.d',
  'nsswitch.conf',
  'securetty',
  'shells',
] as EtcTarget[]

const protectedNames = new Set(protectedPaths)
const aboveProtected = new Set(protectedPaths.flatMap(ancestorsOf))

/** What lies below a protected directory is protected, and so is a directory that holds a protected file. */
export function isProtected(target: EtcTarget): boolean {
  if (target.startsWith('ld.so.')) return true
  return aboveProtected.has(target) || [...ancestorsOf(target), target].some(path => protectedNames.has(path))
}

export function checkProtected(entries: readonly Declared[]): Problem[] {
  return entries.filter(({ target, allowProtected }) => !allowProtected && isProtected(target)).map(protectedTarget)
}
