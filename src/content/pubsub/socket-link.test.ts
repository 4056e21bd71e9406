// Frames on the wire, cut into pieces of any size.

import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { maxFrame } from './link.ts'
import { socketLink } from './socket-link.ts'

/** A socket that only receives, and the frames that came out of it. */
function receiving() {
  const socket = new Duplex({ read: () => {}, write: (_chunk, _encoding, done) => done() }) as unknown as Socket
  const frames: string[] = []
  let tooLong = 0
  socketLink(socket).start({
    frame: bytes => frames.push(bytes.toString('latin1')),
    tooLong: () => tooLong++,
    drain: () => {},
    close: () => {},
  })
  return { feed: (bytes: Buffer) => socket.emit('data', bytes), frames, tooLong: () => tooLong }
}

const framed = (text: string) => {
  const header = Buffer.alloc(4)
  header.writeUInt32BE(text.length)
  return Buffer.concat([header, Buffer.from(text, 'latin1')])
}

it('puts frames together from any pieces', () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: 'binary-ascii' })),
      fc.array(fc.integer({ min: 1, max: 9 })),
      (texts, sizes) => {
        const { feed, frames } = receiving()
        const bytes = Buffer.concat(texts.map(framed))
        for (let at = 0, turn = 0; at < bytes.length; turn++) {
          const size = sizes[turn % sizes.length] ?? bytes.length
          feed(bytes.subarray(at, at + size))
          at += size
        }
        expect(frames).toEqual(texts)
      },
    ),
    process.env.CAIRN_SEED ? { seed: Number(process.env.CAIRN_SEED) } : {},
  )
})

it('refuses a frame of 2 GiB by its header, and reads nothing after it', () => {
  const { feed, frames, tooLong } = receiving()
  feed(framed('before'))
  const header = Buffer.alloc(4)
  header.writeUInt32BE(2 ** 31)
  feed(Buffer.concat([header, framed('after')]))
  feed(framed('later'))
  expect(frames).toEqual(['before'])
  expect(tooLong()).toBe(1)
  expect(maxFrame).toBe(16 * 1024 * 1024)
})
