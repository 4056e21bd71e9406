// How much room the file system of the volumes has: looked at every few seconds, and soon after something went.
import { statfs } from 'node:fs/promises'
import type { ManagerContext } from '../../content/process/calls.ts'
import { messageOf } from '../../lib/errors.ts'

export interface Space {
  readonly free: number
  readonly total: number
}

const everyMs = 5000
const soonMs = 100

export interface SpaceWatch {
  /** Look again soon. */
  look(): void
  /** Ends with the signal of the context. */
  readonly done: Promise<void>
}

export async function measureSpace({ layout, log }: ManagerContext): Promise<Space> {
  try {
    const { bavail, blocks, bsize } = await statfs(layout.volumes)
    return { free: bavail * bsize, total: blocks * bsize }
  } catch (error) {
    // Not to know is no reason to refuse: the system says ENOSPC itself.
    log(`the free space of ${layout.volumes} cannot be told: ${messageOf(error)}`)
    return { free: Number.MAX_SAFE_INTEGER, total: Number.MAX_SAFE_INTEGER }
  }
}

export function watchSpace(context: ManagerContext, tell: (space: Space) => void): SpaceWatch {
  const { clock, signal } = context
  let wake = new AbortController()
  const loop = async () => {
    while (!signal.aborted) {
      await clock.sleep(everyMs, AbortSignal.any([signal, wake.signal])).catch(() => {})
      if (wake.signal.aborted) {
        await clock.sleep(soonMs, signal).catch(() => {})
        wake = new AbortController()
      }
      if (!signal.aborted) tell(await measureSpace(context))
    }
  }
  return { look: () => wake.abort(), done: loop() }
}
