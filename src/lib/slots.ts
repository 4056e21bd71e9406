// A limit on how much of something goes on at once. Who finds no place waits, first come first served.

export type Slots = <T>(work: () => Promise<T>) => Promise<T>

export function slots(count: number): Slots {
  let free = count
  const waiting: (() => void)[] = []
  return async work => {
    if (free > 0) free--
    else await new Promise<void>(go => waiting.push(go))
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else free++
    }
  }
}
