// Volumes that are root file systems of containers. What makes them is the machine's container runtime; without one they
// are directories of our own.
import type { ManagerContext } from '../../content/process/calls.ts'
import { CairnError } from '../../lib/errors.ts'
import { exists } from '../kinds/failures.ts'
import type { VolumeKind } from '../kinds/kind.ts'
import { directoryRuntime } from './directory/directory-runtime.ts'
import { type ContainerRuntime, imageName } from './runtime.ts'

export type OpenRuntime = (context: ManagerContext) => Promise<ContainerRuntime>

/** `openRuntime` is asked for each volume, and gives the same runtime each time. */
export const containerKind = (openRuntime: OpenRuntime): VolumeKind => ({
  async create({ target, content, signal }, context) {
    if (!content) throw new CairnError('volume.content-required', 'a container volume is made from an image')
    if (context.files.lstat(target)) throw exists(target)
    const runtime = await openRuntime(context)
    const { usedSize } = await runtime.makeRootfs({ target, image: imageName(content), content, signal })
    return { path: target, usedSize }
  },

  /** It takes what its file system has: there is nothing to grow. */
  grow: async ({ target }) => ({ path: target, usedSize: 0 }),

  async destroy(target, context) {
    await (await openRuntime(context)).removeRootfs(target)
  },
})

/** Containerd where it answers, else directories. Opened once: the caller keeps it for as long as its process runs. */
export const openRuntime: OpenRuntime = async context => {
  const first = await context.calls.connectRuntime()
  if (!first) return directoryRuntime(context)
  // Loaded only where it is needed: gRPC costs memory in a process that should have little.
  const { connection } = await import('./containerd/connection.ts')
  const { containerdRuntime } = await import('./containerd/containerd-runtime.ts')
  let handed: typeof first | null = first
  const opened = connection(async () => {
    const socket = handed ?? (await context.calls.connectRuntime())
    handed = null
    return socket
  })
  context.signal.addEventListener('abort', opened.close, { once: true })
  return containerdRuntime(context, opened)
}
