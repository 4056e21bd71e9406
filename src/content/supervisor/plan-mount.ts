// Decides whether a mount is one that the container runtime asks for, and how mount(8) is told. Only the runtime's own
// snapshots are ever shown at another place.
import { normalize } from 'node:path'
import { CairnError } from '../../lib/errors.ts'
import type { Mount } from '../process/calls.ts'

/** The arguments before the target. */
export function planMount({ type, source, options }: Mount): readonly string[] {
  const wrong = options.find(option => option === '' || /[\s,\0]/.test(option) || !isAllowed(type, option))
  if (wrong !== undefined) throw refused(`the option ${JSON.stringify(wrong.slice(0, 200))} of a mount of type ${type}`)
  const told = ['--no-mtab', '--no-canonicalize', ...(options.length > 0 ? ['--options', options.join(',')] : [])]
  switch (type) {
    case 'overlay':
      return [...told, '--types', 'overlay', 'overlay']
    case 'bind':
      if (!isSnapshot(source)) throw refused(`the source ${source}`)
      if (!options.includes('bind') && !options.includes('rbind')) throw refused('a bind mount without bind')
      return [...told, source]
    default:
      throw refused(`the type ${JSON.stringify(type)}`)
  }
}

const plainOptions: Readonly<Record<string, readonly string[]>> = {
  overlay: ['ro', 'rw', 'index=off', 'userxattr', 'volatile', 'metacopy=on', 'metacopy=off'],
  bind: ['ro', 'rw', 'bind', 'rbind'],
}

function isAllowed(type: string, option: string): boolean {
  if (plainOptions[type]?.includes(option)) return true
  const [, name, paths = ''] = /^(lowerdir|upperdir|workdir)=(.+)$/s.exec(option) ?? []
  return type === 'overlay' && name !== undefined && paths.split(':').every(isSnapshot)
}

/** Below a snapshotter of the runtime, wherever that has its root. */
const isSnapshot = (path: string): boolean =>
  path.startsWith('/') &&
  normalize(path) === path &&
  /\/io\.containerd\.snapshotter\.v1\.[a-z]+\/snapshots\//.test(path)

const refused = (what: string) => new CairnError('call.refused', `${what} is not mounted`)
