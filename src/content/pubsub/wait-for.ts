// Waits until the mirror of a channel shows something. A look that throws ends the wait with its error; so does a channel
// that is closed for good, which shows nothing any more.
import { CairnError } from '../../lib/errors.ts'
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
  peer.onClose(() => reject(new CairnError('channel.closed', 'the content processes cannot be reached any more')))
  if (signal.aborted) onAbort()
  else check()
  return promise.finally(() => {
    stop()
    signal.removeEventListener('abort', onAbort)
  })
}
