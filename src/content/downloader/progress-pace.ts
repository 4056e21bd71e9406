// Lets what changes all the time be told a few times a second, the last value always.
import type { Clock } from '../../lib/clock.ts'

const everyMs = 250

/** The result is called at each change of a key; `tell` at once when it was quiet, else when its pause is over. */
export function progressPace(clock: Clock, signal: AbortSignal, tell: (key: string) => void): (key: string) => void {
  const pausing = new Map<string, { changed: boolean }>()

  const pause = async (key: string) => {
    const state = { changed: false }
    pausing.set(key, state)
    do {
      state.changed = false
      tell(key)
      await clock.sleep(everyMs, signal)
    } while (state.changed)
    pausing.delete(key)
  }
  return key => {
    const state = pausing.get(key)
    if (state) state.changed = true
    // Rejects only when all of it ends.
    else pause(key).catch(() => {})
  }
}
