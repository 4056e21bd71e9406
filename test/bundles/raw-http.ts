// HTTP by hand, for what no client would send: bytes go out as they are, and whatever comes back is kept.
import { connect, type Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'

export interface Exchange {
  /** Of every answer on the connection, in order; 100 Continue is none. */
  readonly statuses: readonly number[]
  readonly text: string
  /** By the server. */
  readonly closed: boolean
}

/** Ends when the server closes, or when so many answers have come; after `withinMs` with what there is. */
export async function exchange(
  url: string,
  bytes: string | Uint8Array,
  { answers = 1, withinMs = 20_000 }: { readonly answers?: number; readonly withinMs?: number } = {},
): Promise<Exchange> {
  const socket = open(url)
  try {
    const seen = watch(socket)
    socket.write(bytes)
    for (const end = Date.now() + withinMs; Date.now() < end; await setTimeout(5)) {
      const { closed, statuses } = seen()
      if (closed || statuses.length >= answers) break
    }
    return seen()
  } finally {
    socket.destroy()
  }
}

/** Goes on sending one piece, at the pace of the server or with a pause, until the server closes. `sent` is in bytes. */
export async function sendUntilClosed(
  url: string,
  head: string,
  piece: Uint8Array,
  { pauseMs = 0, withinMs }: { readonly pauseMs?: number; readonly withinMs: number },
): Promise<Exchange & { readonly sent: number }> {
  const socket = open(url)
  try {
    const seen = watch(socket)
    socket.write(head)
    let sent = 0
    for (const end = Date.now() + withinMs; Date.now() < end && !seen().closed; ) {
      sent += piece.length
      const isTaken = socket.writable && socket.write(piece)
      if (pauseMs > 0) await setTimeout(pauseMs)
      else if (!isTaken) await Promise.race([new Promise(done => socket.once('drain', done)), setTimeout(50)])
    }
    return { ...seen(), sent }
  } finally {
    socket.destroy()
  }
}

function open(url: string): Socket {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  // A reset is one way of being refused.
  socket.on('error', () => {})
  return socket
}

function watch(socket: Socket): () => Exchange {
  let text = ''
  let closed = false
  socket.on('data', chunk => (text += chunk.toString('latin1')))
  for (const event of ['end', 'close']) socket.on(event, () => (closed = true))
  return () => ({ statuses: statusesIn(text), text, closed })
}

const statusesIn = (text: string): number[] =>
  [...text.matchAll(/HTTP\/1\.[01] (\d{3}) /g)].map(([, status]) => Number(status)).filter(status => status !== 100)
