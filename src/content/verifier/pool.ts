// Runs a few pieces of work at once. What is not urgent takes one place at most and never the last free one that urgent work
// could have; what is suspect runs alone, so that a death during it is its own.

export interface Work {
  readonly urgent: boolean
  readonly alone: boolean
  /** Never rejects. */
  readonly run: () => Promise<void>
}

export interface Pool {
  add(work: Work): void
  /** Takes out work that has not begun; false when it has. */
  withdraw(work: Work): boolean
  /** Resolves when nothing runs and nothing waits. */
  idle(): Promise<void>
}

export function pool(places: number): Pool {
  const waiting: Work[] = []
  const running = new Set<Work>()
  const idlers: (() => void)[] = []

  const pump = () => {
    for (let work = nextOf(waiting, running, places); work; work = nextOf(waiting, running, places)) {
      waiting.splice(waiting.indexOf(work), 1)
      start(work)
    }
    if (running.size + waiting.length === 0) for (const tell of idlers.splice(0)) tell()
  }
  const start = (work: Work) => {
    running.add(work)
    // Not at once: whoever adds it is in the middle of something.
    void Promise.resolve()
      .then(work.run)
      .finally(() => {
        running.delete(work)
        pump()
      })
  }
  return {
    add(work) {
      waiting.push(work)
      pump()
    },
    withdraw(work) {
      const at = waiting.indexOf(work)
      if (at >= 0) waiting.splice(at, 1)
      return at >= 0
    },
    idle: () =>
      new Promise(resolve => {
        idlers.push(resolve)
        pump()
      }),
  }
}

function nextOf(waiting: readonly Work[], running: ReadonlySet<Work>, places: number): Work | undefined {
  const now = [...running]
  if (now.length >= places || now.some(({ alone }) => alone)) return undefined
  const next =
    waiting.find(({ urgent, alone }) => urgent && !alone) ?? waiting.find(({ urgent }) => urgent) ?? waiting[0]
  if (!next || (next.alone && now.length > 0)) return undefined
  return next.urgent || now.every(({ urgent }) => urgent) ? next : undefined
}
