// A channel over a socket: each frame is its length in four bytes, most significant first, and then its bytes.
import type { Socket } from 'node:net'
import { type Link, type LinkEvents, maxFrame } from './link.ts'

const headerLength = 4
/** A peer that does not read what it is told last is not waited for. */
const lingerMs = 1000

export function socketLink(socket: Socket): Link {
  let ended = false
  // An error is followed by close, which says all that matters here; also before anyone listens.
  socket.on('error', () => {})
  return {
    start: events => {
      const read = frameReader(events)
      socket.on('data', read)
      socket.on('drain', () => events.drain())
      if (socket.destroyed) setImmediate(() => events.close())
      else socket.once('close', () => events.close())
    },
    send: frame => {
      if (ended || !socket.writable) return true
      const header = Buffer.alloc(headerLength)
      header.writeUInt32BE(frame.length)
      socket.cork()
      socket.write(header)
      const room = socket.write(frame)
      process.nextTick(() => socket.uncork())
      return room
    },
    end: () => {
      if (ended) return
      ended = true
      // Not destroyed: what the other side says meanwhile would find nobody, and its error throw away what it has not read yet.
      socket.end()
      setTimeout(() => socket.destroy(), lingerMs).unref()
    },
    destroy: () => socket.destroy(),
  }
}

/** Takes chunks as they come and calls `frame` for each whole one. A frame in one chunk is not copied. */
function frameReader({ frame, tooLong }: LinkEvents): (chunk: Buffer) => void {
  let chunks: Buffer[] = []
  let have = 0
  let need = headerLength
  let inHeader = true
  let deaf = false

  return chunk => {
    if (deaf) return
    chunks.push(chunk)
    have += chunk.length
    while (have >= need && !deaf) {
      const all = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, have)
      const taken = all.subarray(0, need)
      const rest = all.subarray(need)
      chunks = rest.length > 0 ? [rest] : []
      have = rest.length
      if (inHeader) {
        need = taken.readUInt32BE()
        inHeader = false
        deaf = need > maxFrame
        if (deaf) tooLong()
      } else {
        need = headerLength
        inHeader = true
        frame(taken)
      }
    }
  }
}
