// Frames on the wire, cut into pieces of any size.

import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Duplex } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
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

it('delivers what was said before its end, also to one who speaks before it listens', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'cairn-link-'))
  const place = join(directory, 'socket')
  const accepted = Promise.withResolvers<Socket>()
  const server = createServer({ pauseOnConnect: true }, accepted.resolve)
  await new Promise<void>(up => server.listen(place, up))
  const leaving = socketLink(connect(place))
  leaving.start({ frame: () => {}, tooLong: () => {}, drain: () => {}, close: () => {} })
  const socket = await accepted.promise
  const staying = socketLink(socket)
  leaving.send(Buffer.from('last'))
  leaving.end()
  await setTimeout(20)
  staying.send(Buffer.from('too late'))
  await setTimeout(20)
  const frames: string[] = []
  await new Promise<void>(close => {
    staying.start({ frame: bytes => frames.push(bytes.toString()), tooLong: () => {}, drain: () => {}, close })
    socket.resume()
  })
  expect(frames).toEqual(['last'])
  server.close()
  rmSync(directory, { recursive: true, force: true })
})
