// Waits until the mirror of a channel shows something. A look that throws ends the wait with its error.
import type { Peer } from './peer.ts'

export function waitFor<Value>(peer: Peer, signal: AbortSignal, look: () => Value | undefined): Promise<Value> {
  const { promise, resolve, reject } = Promise.withResolvers<Value>()
  const check = () => {
    try {
      const value = look()
      if (value !== undefined) resolve(value)
    } catch (error) {
      reject(error)
    }
  }
  const onAbort = () => reject(signal.reason)
  signal.addEventListener('abort', onAbort)
  const stop = peer.onChange(check)
  if (signal.aborted) onAbort()
  else check()
  return promise.finally(() => {
    stop()
    signal.removeEventListener('abort', onAbort)
  })
}
