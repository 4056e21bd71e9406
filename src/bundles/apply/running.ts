// What this process is doing to which stack, so that it can be told to stop.

export interface Running {
  /** The signal given to `work` is aborted by `cancel`, or with the one given here. */
  during<Result>(
    key: string,
    signal: AbortSignal | undefined,
    work: (signal: AbortSignal) => Promise<Result>,
  ): Promise<Result>
  /** True when something was under way. */
  cancel(key: string): boolean
}

export function runningOperations(): Running {
  const running = new Map<string, Set<AbortController>>()
  return {
    during: async (key, signal, work) => {
      const controller = new AbortController()
      const others = running.get(key) ?? new Set()
      running.set(key, others.add(controller))
      try {
        return await work(signal ? AbortSignal.any([signal, controller.signal]) : controller.signal)
      } finally {
        others.delete(controller)
        if (others.size === 0) running.delete(key)
      }
    },
    cancel: key => {
      const controllers = running.get(key)
      for (const controller of controllers ?? []) controller.abort(new Error('cancelled'))
      return controllers !== undefined
    },
  }
}
