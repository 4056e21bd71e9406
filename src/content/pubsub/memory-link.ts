// A channel within one process. Frames arrive later, never while they are sent, as they would from a socket.
import { type Link, type LinkEvents, maxFrame } from './link.ts'

/** Bytes under way from which on the sender is told to wait. */
const highWater = 64 * 1024

/** Both ends of one channel. */
export function memoryLinks(): [Link, Link] {
  const a = makeEnd()
  const b = makeEnd()
  a.other = b
  b.other = a
  return [a.link, b.link]
}

interface End {
  readonly link: Link
  other: End | null
  /** Frames on their way here; null stands for the end. */
  readonly inbox: (Uint8Array | null)[]
  /** Bytes in the inbox. */
  waiting: number
  deliverSoon(): void
  closeNow(): void
  drained(): void
}

function makeEnd(): End {
  let events: LinkEvents | null = null
  let scheduled = false
  let deaf = false
  let ended = false
  let closed = false
  let waits = false

  const sendTo = (other: End, frame: Uint8Array | null) => {
    other.inbox.push(frame)
    other.waiting += frame?.length ?? 0
    other.deliverSoon()
    waits = other.waiting > highWater
    return !waits
  }

  const deliver = () => {
    scheduled = false
    for (let frame = end.inbox.shift(); frame !== undefined; frame = end.inbox.shift()) {
      if (closed) return
      if (frame === null) return destroy()
      end.waiting -= frame.length
      if (deaf) continue
      deaf = frame.length > maxFrame
      if (deaf) events?.tooLong()
      else events?.frame(Buffer.from(frame))
    }
    end.other?.drained()
  }

  const destroy = () => {
    end.closeNow()
    end.other?.closeNow()
  }

  const end: End = {
    other: null,
    inbox: [],
    waiting: 0,
    deliverSoon: () => {
      if (scheduled || !events) return
      scheduled = true
      setImmediate(deliver)
    },
    closeNow: () => {
      if (closed) return
      closed = true
      setImmediate(() => events?.close())
    },
    drained: () => {
      if (waits && !closed) events?.drain()
      waits = false
    },
    link: {
      start: listeners => {
        events = listeners
        if (closed) setImmediate(() => events?.close())
        else end.deliverSoon()
      },
      send: frame => ended || closed || sendTo(end.other!, Uint8Array.from(frame)),
      end: () => {
        if (!ended && !closed) sendTo(end.other!, null)
        ended = true
      },
      destroy,
    },
  }
  return end
}
