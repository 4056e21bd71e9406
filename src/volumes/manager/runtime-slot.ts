// The container runtime as the manager holds it: opened when it is first needed, kept while it answers, opened anew after it
// did not. Without one, what needs it fails with runtime.unavailable, and everything else goes on.
import { CairnError, isErrno } from '../../lib/errors.ts'
import type { ContainerRuntime } from '../container/runtime.ts'

export interface RuntimeSlot {
  use<Value>(work: (runtime: ContainerRuntime) => Promise<Value>): Promise<Value>
}

export function runtimeSlot(open: () => Promise<ContainerRuntime | null>): RuntimeSlot {
  let opened: Promise<ContainerRuntime | null> | null = null
  return {
    async use(work) {
      opened ??= open()
      try {
        const runtime = await opened
        if (!runtime) throw unavailable()
        return await work(runtime)
      } catch (error) {
        const isLost = isErrno(error, 'ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ENOENT') && !(error instanceof CairnError)
        if (!isLost && !(error instanceof CairnError && error.code === 'runtime.unavailable')) throw error
        opened = null
        throw isLost ? unavailable(error) : error
      }
    },
  }
}

const unavailable = (cause?: unknown) =>
  new CairnError('runtime.unavailable', 'the container runtime does not answer', {
    hint: 'Is containerd running?',
    cause,
  })
