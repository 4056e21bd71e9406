export interface Listeners {
  /** The function returned takes it off again. */
  add(listener: () => void): () => void
  /** Soon, so that a listener that throws does not look like a failure of whoever calls. */
  call(): void
}

export function makeListeners(): Listeners {
  const all = new Set<{ listener: () => void }>()
  return {
    add: listener => {
      const entry = { listener }
      all.add(entry)
      return () => all.delete(entry)
    },
    call: () => {
      for (const { listener } of all) queueMicrotask(listener)
    },
  }
}
