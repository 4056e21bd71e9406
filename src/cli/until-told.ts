// Waits for the signal that ends a command that runs until it is told. One is enough: npm hands Ctrl-C on a second time. Who insists is obeyed at once,
// and the runners' last act is then to kill what they started.

export interface Told {
  /** Settles with the first signal. */
  readonly stop: Promise<NodeJS.Signals>
  release(): void
}

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
const sameMs = 1_000

export function untilTold(): Told {
  const { promise: stop, resolve } = Promise.withResolvers<NodeJS.Signals>()
  let toldAt: number | null = null
  const onSignal = (signal: NodeJS.Signals) => {
    if (toldAt !== null && performance.now() - toldAt > sameMs) process.exit(1)
    toldAt ??= performance.now()
    resolve(signal)
  }
  for (const signal of signals) process.on(signal, onSignal)
  return {
    stop,
    release: () => {
      for (const signal of signals) process.off(signal, onSignal)
    },
  }
}
