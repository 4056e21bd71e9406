// Work that must be finished or undone before the process ends, whether somebody still waits for it or not.

export interface Underway {
  /** `signal`: aborted when there is no more time; what is under way is then undone. */
  run<Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result>
  /** True while the server is about to stop. */
  readonly stopping: boolean
  /** Lets everything finish, for as long as this; then cancels it and waits for that. */
  stop(graceMs: number): Promise<void>
}

export function createUnderway(): Underway {
  const all = new Set<Promise<unknown>>()
  const ending = new AbortController()
  let stopping = false
  const settled = () => Promise.allSettled(all)

  return {
    run: work => {
      const running = work(ending.signal)
      all.add(running)
      const done = () => all.delete(running)
      running.then(done, done)
      return running
    },
    get stopping() {
      return stopping
    },
    stop: async graceMs => {
      stopping = true
      const timer = setTimeout(() => ending.abort(new Error('the server stops')), graceMs)
      while (all.size > 0) await settled()
      clearTimeout(timer)
    },
  }
}
