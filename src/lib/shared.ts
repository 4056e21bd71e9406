// One value for all who want it at the same time: made once for the first, used by the others, disposed of after the last.
// When all who wait for it have given up, its making is aborted and has ended before the last of them is told; if it had
// failed by itself, that is what the last one is told.

interface Lease<Value> {
  readonly value: Value
  /** True for the one for whom it was made. */
  readonly first: boolean
  /** May be called again; does nothing then. */
  release(): void
}

export interface Sharing<Value> {
  acquire(key: string, signal: AbortSignal, make: (signal: AbortSignal) => Promise<Value>): Promise<Lease<Value>>
}

interface Share<Value> {
  readonly making: Promise<Value>
  readonly controller: AbortController
  users: number
  /** Set when all have given up: settles when everything of it is put away. */
  ending?: Promise<unknown>
}

export function sharing<Value>(dispose: (value: Value) => void = () => {}): Sharing<Value> {
  const shares = new Map<string, Share<Value>>()

  const start = (key: string, make: (signal: AbortSignal) => Promise<Value>): Share<Value> => {
    const controller = new AbortController()
    const share: Share<Value> = { making: make(controller.signal), controller, users: 0 }
    shares.set(key, share)
    share.making.catch(() => forget(key, share))
    return share
  }
  const forget = (key: string, share: Share<Value>) => {
    if (shares.get(key) === share) shares.delete(key)
  }
  const giveUp = (key: string, share: Share<Value>, reason: unknown): Promise<unknown> => {
    share.controller.abort(reason)
    share.ending = share.making
      .then(
        value => {
          dispose(value)
          return reason
        },
        error => (isAbort(error) ? reason : error),
      )
      .finally(() => forget(key, share))
    return share.ending
  }

  return {
    async acquire(key, signal, make) {
      signal.throwIfAborted()
      // One that was given up is still putting its things away; a new one must not meet it.
      for (let ending = shares.get(key)?.ending; ending; ending = shares.get(key)?.ending) await ending

      const known = shares.get(key)
      const share = known ?? start(key, make)
      share.users++
      try {
        const value = await orAborted(share.making, signal)
        const release = once(() => {
          if (--share.users > 0) return
          forget(key, share)
          dispose(value)
        })
        return { value, first: !known, release }
      } catch (error) {
        throw --share.users === 0 && signal.aborted ? await giveUp(key, share, signal.reason) : error
      }
    },
  }
}

function orAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason)
    signal.addEventListener('abort', onAbort)
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}

const isAbort = (error: unknown) => error instanceof Error && error.name === 'AbortError'

function once(act: () => void): () => void {
  let done = false
  return () => {
    if (!done) act()
    done = true
  }
}
