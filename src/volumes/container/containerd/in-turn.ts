// Work on the same thing is done one after the other, so that the second finds what the first has done.

export type InTurn = <T>(key: string, work: () => Promise<T>) => Promise<T>

export function inTurn(): InTurn {
  const last = new Map<string, Promise<unknown>>()
  return async (key, work) => {
    const before = last.get(key)
    const mine = (async () => {
      await before?.catch(() => {})
      return work()
    })()
    last.set(key, mine)
    try {
      return await mine
    } finally {
      if (last.get(key) === mine) last.delete(key)
    }
  }
}
