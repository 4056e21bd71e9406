// Decides whether a mount is one that the container runtime asks for, and how mount(8) is told. Only the runtime's own
// snapshots are ever shown at another place.
import { normalize } from 'node:path'
import { CairnError } from '../../lib/errors.ts'
import type { Mount } from '../process/calls.ts'

export interface MountPlan {
  /** The arguments before the target. */
  readonly args: readonly string[]
  /** Where mount(8) is to be run; null when that does not matter. */
  readonly directory: string | null
}

export function planMount({ type, source, options }: Mount): MountPlan {
  const wrong = options.find(option => option === '' || /[\s,\0]/.test(option) || !isAllowed(type, option))
  if (wrong !== undefined) throw refused(`the option ${JSON.stringify(wrong.slice(0, 200))} of a mount of type ${type}`)
  switch (type) {
    case 'overlay': {
      const directory = snapshotsOf(options)
      const seenFromThere = directory === null ? options : options.map(option => shortened(option, directory))
      return { args: [...told(seenFromThere), '--types', 'overlay', 'overlay'], directory }
    }
    case 'bind':
      if (!isSnapshot(source)) throw refused(`the source ${source}`)
      if (!options.includes('bind') && !options.includes('rbind')) throw refused('a bind mount without bind')
      return { args: [...told(options), source], directory: null }
    default:
      throw refused(`the type ${JSON.stringify(type)}`)
  }
}

const told = (options: readonly string[]): readonly string[] => [
  '--no-mtab',
  '--no-canonicalize',
  ...(options.length > 0 ? ['--options', options.join(',')] : []),
]

/**
 * The directory that all layers lie in. The kernel takes no more than 4,095 bytes of options, which is fifty-five layers when
 * each is told with its whole path; told from here, `12/fs`, it is five hundred, more than an overlay may have.
 */
function snapshotsOf(options: readonly string[]): string | null {
  const found = options.flatMap(option => directoriesIn(option).map(path => snapshotPattern.exec(path)?.[1]))
  const [first] = found
  return first !== undefined && found.every(directory => directory === first) ? first : null
}

/** Each of its paths without that beginning. */
const shortened = (option: string, directory: string): string =>
  option.replace(/(?<=[=:])\/[^:]*/g, path => path.slice(directory.length + 1))

const plainOptions: Readonly<Record<string, readonly string[]>> = {
  overlay: ['ro', 'rw', 'index=off', 'userxattr', 'volatile', 'metacopy=on', 'metacopy=off'],
  bind: ['ro', 'rw', 'bind', 'rbind'],
}

function isAllowed(type: string, option: string): boolean {
  if (plainOptions[type]?.includes(option)) return true
  const directories = directoriesIn(option)
  return type === 'overlay' && directories.length > 0 && directories.every(isSnapshot)
}

function directoriesIn(option: string): readonly string[] {
  const [, paths] = /^(?:lowerdir|upperdir|workdir)=(.+)$/s.exec(option) ?? []
  return paths?.split(':') ?? []
}

/** Below a snapshotter of the runtime, wherever that has its root. */
const isSnapshot = (path: string): boolean => normalize(path) === path && snapshotPattern.test(path)
const snapshotPattern = /^(\/.*?\/io\.containerd\.snapshotter\.v1\.[a-z]+\/snapshots)\/./s

const refused = (what: string) => new CairnError('call.refused', `${what} is not mounted`)
