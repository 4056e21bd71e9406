// The body of an answer, piece by piece: no faster than it is read, no longer than it was promised, and not without end.
import type { IncomingMessage } from 'node:http'
import { OriginFailure } from '../origin.ts'
import { stalled, tooLarge, tooMuch, truncated } from './failures.ts'
import type { Followed } from './redirects.ts'

export interface BodyLimits {
  /** No byte for this long while one is waited for, and the connection is given up. */
  readonly stallMs: number
  /** The one that the request was sent with. */
  readonly signal: AbortSignal
}

/** How many bytes have to come; null when the server does not say. */
type Expected = number | null

export async function* bytesOf(
  { answer, url }: Followed,
  { expected, stallMs, signal }: BodyLimits & { readonly expected: Expected },
): AsyncGenerator<Buffer, void, undefined> {
  let received = 0
  // The time that the reader takes is not the server's.
  let waiting = true
  const timer = setTimeout(() => {
    if (waiting) answer.destroy(stalled(url, stallMs))
    else timer.refresh()
  }, stallMs)
  try {
    for await (const chunk of chunksOf(answer)) {
      received += chunk.length
      if (expected !== null && received > expected) throw tooMuch(url, expected)
      waiting = false
      yield chunk
      waiting = true
      timer.refresh()
    }
  } catch (error) {
    if (signal.aborted) throw signal.reason
    throw error instanceof OriginFailure ? error : truncated(url, received, expected)
  } finally {
    clearTimeout(timer)
  }
  if (!answer.complete || (expected !== null && received < expected)) throw truncated(url, received, expected)
}

/** What may wait for its reader. */
const mostWaiting = 256 * 1024

/** As they came from the connection: Node's own iteration joins those that wait, which copies all of them once more. */
async function* chunksOf(answer: IncomingMessage): AsyncGenerator<Buffer, void, undefined> {
  const waiting: Buffer[] = []
  let bytes = 0
  let ended = false
  let failure: Error | null = answer.closed ? closedEarly(answer) : null
  let wake = () => {}
  answer.on('data', (chunk: Buffer) => {
    waiting.push(chunk)
    bytes += chunk.length
    if (bytes >= mostWaiting) answer.pause()
    wake()
  })
  answer.on('end', () => {
    ended = true
    wake()
  })
  answer.on('close', () => {
    failure = closedEarly(answer)
    wake()
  })
  try {
    for (;;) {
      const chunk = waiting.shift()
      if (chunk) {
        bytes -= chunk.length
        if (answer.isPaused() && bytes <= mostWaiting / 2) answer.resume()
        yield chunk
      } else if (ended) return
      else if (failure) throw failure
      else
        await new Promise<void>(resolve => {
          wake = resolve
        })
    }
  } finally {
    if (!ended) answer.destroy()
  }
}

const closedEarly = ({ errored }: IncomingMessage): Error => errored ?? new Error('the connection was closed')

/** All of a short body, for those who have to understand it. */
export async function readWhole(
  followed: Followed,
  { most, ...limits }: BodyLimits & { readonly most: number },
): Promise<Buffer> {
  const expected = lengthOf(followed.answer)
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of bytesOf(followed, { ...limits, expected })) {
    size += chunk.length
    if (size > most) throw tooLarge(followed.url, most)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks, size)
}

/** Of the body that follows; null when the server does not say. */
export function lengthOf({ headers }: IncomingMessage): Expected {
  const length = headers['content-length']
  return length !== undefined && /^\d{1,15}$/.test(length) ? Number(length) : null
}
