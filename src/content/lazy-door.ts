// A door whose processes are started by the first who goes through it: most commands find everything at hand.
import { randomUUID } from 'node:crypto'
import { realClock } from '../lib/clock.ts'
import type { ContentDoor } from './door.ts'
import type { ContentOptions } from './node.ts'

export interface LazyDoor extends ContentDoor {
  /** Ends what was started. */
  close(): Promise<void>
}

export function lazyDoor(options: ContentOptions): LazyDoor {
  const open = async () => {
    const [{ openContent }, { doorOn }] = await Promise.all([import('./node.ts'), import('./ask.ts')])
    const { service } = await openContent(options)
    return { service, door: doorOn(service.peer, { clock: realClock, newId: () => randomUUID().slice(0, 8) }) }
  }
  let opened: ReturnType<typeof open> | undefined
  return {
    async fetch(request) {
      opened ??= open()
      return (await opened).door.fetch(request)
    },
    async close() {
      // What failed to open has told so to whoever asked.
      await opened?.then(({ service }) => service.close()).catch(() => {})
    },
  }
}
