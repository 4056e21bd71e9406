// What holds of the hub and its peers on every transport.
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CairnError } from '../../lib/errors.ts'
import { faultyFiles } from '../../lib/files.fake.ts'
import { realFiles } from '../../lib/files.ts'
import { maxFrame } from './link.ts'
import type { Change } from './peer.ts'
import { aContentConfig, aVerifyStatus, settled, type Transport, testHub, until } from './pubsub.fake.ts'
import { encode, protocol } from './wire.ts'

export function pubsubSuite(name: string, openTransport: () => Transport) {
  describe(`pubsub over ${name}`, () => {
    let hub: ReturnType<typeof testHub>
    beforeEach(() => {
      hub = testHub(openTransport())
    })
    afterEach(() => hub.close())

    describe('what a reader hears', () => {
      it('is the snapshot, then the complete marker, then deltas', async () => {
        const verifier = await hub.connect('verifier')
        verifier.publish('verifyStatus', 'a', aVerifyStatus())
        verifier.complete('verifyStatus')
        const settledBy = await hub.connect('manager')
        await settled(verifier, settledBy)
        settledBy.close()

        const raw = await hub.connectRaw('manager')
        raw.read()
        await until(() => raw.heard.some(message => message.do === 'complete' && message.topic === 'verifyStatus'))
        verifier.publish('verifyStatus', 'b', aVerifyStatus())
        await until(() => raw.heard.some(message => message.do === 'put' && message.key === 'b'))
        const order = raw.heard.flatMap(message => {
          if (message.do === 'put') return [`put ${message.key}`]
          if (message.do === 'complete') return message.topic === 'verifyStatus' ? ['complete'] : []
          return [message.do]
        })
        expect(order).toEqual(['hello', 'put a', 'listed', 'complete', 'put b'])
      })

      it('is no delta when the value is equal, in any order of its fields', async () => {
        const verifier = await hub.connect('verifier')
        const raw = await hub.connectRaw('manager')
        raw.read()
        const { state, ...rest } = aVerifyStatus()
        for (const value of [
          { state, ...rest },
          { ...rest, state },
        ])
          verifier.publish('verifyStatus', 'a', value)
        const again = await hub.connectRaw('verifier', 'again')
        again.send({ do: 'put', topic: 'verifyStatus', key: 'a', value: { ...rest, state } })
        again.send({ do: 'put', topic: 'verifyStatus', key: 'b', value: { ...rest, state } })
        await until(() => raw.heard.some(message => message.do === 'put' && message.key === 'b'))
        expect(raw.heard.filter(message => message.do === 'put' && message.key === 'a')).toHaveLength(1)
      })

      it('shows a delete and a put in a row as gone and there again', async () => {
        const verifier = await hub.connect('verifier')
        const manager = await hub.connect('manager')
        verifier.publish('verifyStatus', 'a', aVerifyStatus())
        await until(() => manager.all('verifyStatus').has('a'))
        const seen: boolean[] = []
        manager.onChange(() => seen.push(manager.all('verifyStatus').has('a')))
        verifier.retract('verifyStatus', 'a')
        verifier.publish('verifyStatus', 'a', aVerifyStatus())
        await until(() => seen.length >= 2)
        expect(seen.slice(0, 2)).toEqual([false, true])
      })

      it('is the last value of each key when it reads slowly, and memory is bounded by keys', async () => {
        const verifier = await hub.connect('verifier')
        const slow = await hub.connectRaw('manager')
        const probe = await hub.connect('watcher')
        const filler = 'x'.repeat(3000)
        const rounds = 2000
        for (let round = 1; round <= rounds; round++) {
          const error = { code: 'a.b', text: filler, severity: 'notice', since: '2026-01-01T00:00:00Z' } as const
          verifier.publish('verifyStatus', 'a', aVerifyStatus({ size: round, error: { ...error, source: 'verifier' } }))
          if (round % 50 === 0) await until(() => probe.all('verifyStatus').get('a')?.size === round)
        }
        slow.read()
        const puts = () => slow.heard.filter(message => message.do === 'put')
        await until(() => puts().some(({ value }) => (value as { size: number }).size === rounds))
        expect(puts().length).toBeLessThan(rounds / 2)
      })

      it('is called once for a batch, and with an empty one when a topic becomes complete', async () => {
        const verifier = await hub.connect('verifier')
        const manager = await hub.connect('manager')
        const batches: (readonly Change[])[] = []
        const stop = manager.onChange(changes => batches.push(changes))
        for (const key of ['a', 'b', 'c']) verifier.publish('verifyStatus', key, aVerifyStatus())
        await until(() => manager.all('verifyStatus').size === 3)
        await settled(verifier, manager)
        expect(batches[0]).toEqual(['a', 'b', 'c'].map(key => ({ topic: 'verifyStatus', key })))
        expect(manager.isComplete('verifyStatus')).toBe(false)
        batches.length = 0
        verifier.complete('verifyStatus')
        await until(() => manager.isComplete('verifyStatus'))
        expect(batches).toEqual([[]])
        stop()
        verifier.publish('verifyStatus', 'd', aVerifyStatus())
        await until(() => manager.all('verifyStatus').has('d'))
        expect(batches).toEqual([[]])
      })

      it('is only what its role may read', async () => {
        const manager = await hub.connect('manager')
        const verifier = await hub.connect('verifier')
        const requester = await hub.connect('requester')
        const watcher = await hub.connect('watcher')
        requester.publish('contentConfig', 'packages/a', aContentConfig('a'))
        await until(() => manager.all('contentConfig').has('packages/a'))
        await settled(verifier, watcher)
        expect([verifier, watcher].map(peer => peer.all('contentConfig').size)).toEqual([0, 0])
      })
    })

    describe('who publishes', () => {
      it('merges several: the last put counts, and the key goes with the last one who says it', async () => {
        const manager = await hub.connect('manager')
        const [one, other] = [await hub.connect('requester'), await hub.connect('requester')]
        const nameOf = () => manager.all('contentConfig').get('packages/a')?.ref.name
        one.publish('contentConfig', 'packages/a', aContentConfig('a', 'one'))
        await until(() => nameOf() === 'one')
        other.publish('contentConfig', 'packages/a', aContentConfig('a', 'other'))
        await until(() => nameOf() === 'other')
        other.retract('contentConfig', 'packages/a')
        await until(() => nameOf() === 'one')
        one.retract('contentConfig', 'packages/a')
        await until(() => nameOf() === undefined)
      })

      it('lets the values of a process outlive it, until its successor has said its set', async () => {
        const manager = await hub.connect('manager')
        const first = await hub.connect('verifier')
        for (const key of ['a', 'b']) first.publish('verifyStatus', key, aVerifyStatus())
        first.complete('verifyStatus')
        await until(() => manager.isComplete('verifyStatus'))
        first.link.destroy()
        await first.closed
        await hub.clock.advance(60_000)

        const keys = () => [...manager.all('verifyStatus').keys()].sort()
        const second = await hub.connect('verifier')
        for (const key of ['b', 'c']) second.publish('verifyStatus', key, aVerifyStatus())
        await until(() => keys().length === 3)
        expect(keys()).toEqual(['a', 'b', 'c'])
        expect(manager.isComplete('verifyStatus')).toBe(true)
        second.complete('verifyStatus')
        await until(() => keys().length === 2)
        expect(keys()).toEqual(['b', 'c'])
      })

      it('lets the values of a requester go half a minute after its channel', async () => {
        const manager = await hub.connect('manager')
        const requester = await hub.connect('requester')
        requester.publish('contentConfig', 'packages/a', aContentConfig('a'))
        await until(() => manager.all('contentConfig').size === 1)
        requester.close()
        await settledOnDisk(hub)
        await hub.clock.advance(29_999)
        await settledOnDisk(hub)
        expect(manager.all('contentConfig').size).toBe(1)
        await hub.clock.advance(1)
        await until(() => manager.all('contentConfig').size === 0)
      })

      it('ends the older channel of a process that opens another one', async () => {
        const first = await hub.connect('verifier')
        await hub.connect('verifier')
        await first.closed
        expect(first.faults.map(({ code }) => code)).toEqual(['channel.replaced'])
      })
    })

    describe('a wrong message closes its channel with the reason and changes nothing', () => {
      const frames: Record<string, [code: string, frame: Buffer]> = {
        'invalid UTF-8': ['frame.invalid', Buffer.from([0x22, 0xff, 0xfe, 0x22])],
        'no JSON': ['frame.invalid', Buffer.from('{"do":')],
        'an unknown message': ['frame.invalid', Buffer.from('{"do":"rule"}')],
        'an unknown field': ['frame.invalid', Buffer.from('{"do":"beat","role":"supervisor"}')],
        'hello again': ['frame.invalid', encode({ do: 'hello', protocol, session: 'x' })],
        'a topic of another': [
          'message.not-allowed',
          encode({ do: 'put', topic: 'verifyStatus', key: 'a', value: aVerifyStatus() }),
        ],
        'a topic that is none': ['message.not-allowed', encode({ do: 'put', topic: '__proto__', key: 'a', value: {} })],
        'a retraction for another': [
          'message.not-allowed',
          encode({ do: 'retract', topic: 'verifyStatus', key: 'kept', n: 1 }),
        ],
        'completeness for another': ['message.not-allowed', encode({ do: 'complete', topic: 'verifyStatus' })],
        'a value against its schema': [
          'message.invalid',
          encode({ do: 'put', topic: 'contentConfig', key: 'a', value: { scope: 'x' } }),
        ],
        'a call where none is answered': ['message.not-allowed', encode({ do: 'call', id: 1, name: 'sync', args: {} })],
        'a frame that is too long': ['frame.too-long', Buffer.alloc(maxFrame + 1, ' ')],
      }
      for (const [title, [code, frame]] of Object.entries(frames))
        it(title, async () => {
          const verifier = await hub.connect('verifier')
          verifier.publish('verifyStatus', 'kept', aVerifyStatus())
          const manager = await hub.connect('manager')
          await settled(verifier, manager)
          const raw = await hub.connectRaw('requester')
          raw.read()
          await until(() => raw.heard.length > 0)
          raw.link.send(frame)
          raw.send({ do: 'put', topic: 'contentConfig', key: 'packages/late', value: aContentConfig('late') })
          await raw.closed
          expect(raw.heard.at(-1)).toMatchObject({ do: 'fault', code })
          await settled(verifier, manager)
          expect([...manager.all('verifyStatus').keys()]).toEqual(['kept'])
          expect(manager.all('contentConfig').size).toBe(0)
          expect(manager.isComplete('verifyStatus')).toBe(false)
        })

      it('another protocol, and anything before hello', async () => {
        const first = {
          'protocol.unknown': encode({ do: 'hello', protocol: protocol + 1, session: 'x' }),
          'frame.invalid': encode({ do: 'beat' }),
        }
        for (const [code, frame] of Object.entries(first)) {
          const raw = await hub.connectRaw('requester', null)
          raw.read()
          raw.link.send(frame)
          await raw.closed
          expect(raw.heard).toMatchObject([{ do: 'fault', code }])
        }
      })
    })

    describe('a value that is too large', () => {
      it('is told to the publisher at once, and the channel lives', async () => {
        const requester = await hub.connect('requester')
        const manager = await hub.connect('manager')
        const userData = 'é'.repeat(9 * 2 ** 20)
        const volume = {
          scope: 'volumes',
          displayName: 'v',
          owner: 'o',
          id: 'i',
          generation: 0,
          origin: 'cloud-init',
          maxSize: 0,
          readOnly: true,
          kind: 'disk',
          format: 'iso',
          cloudInit: { userData },
          verifyOnly: false,
        } as const
        expect(codeOf(() => requester.publish('volumeConfig', 'volumes/v', volume))).toBe('message.too-large')
        requester.publish('contentConfig', 'packages/a', aContentConfig('a'))
        await until(() => manager.all('contentConfig').has('packages/a'))
        expect(manager.all('volumeConfig').size).toBe(0)
      })
    })

    describe('a kept request', () => {
      it('is on disk before it is told, readable by its owner only, and there again after a restart', async () => {
        const manager = await hub.connect('manager')
        const requester = await hub.connect('requester')
        let filesWhenTold: string[] = []
        manager.onChange(() => {
          if (manager.all('contentConfig').has('packages/a') && filesWhenTold.length === 0)
            filesWhenTold = readdirSync(hub.directory)
        })
        requester.publish('contentConfig', 'packages/a', aContentConfig('a'), { keep: true })
        await until(() => filesWhenTold.length > 0)
        expect(filesWhenTold).toHaveLength(1)
        const path = join(hub.directory, filesWhenTold[0]!)
        expect(statSync(path).mode & 0o777).toBe(0o600)
        expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({
          topic: 'contentConfig',
          key: 'packages/a',
          value: aContentConfig('a'),
        })
        requester.close()
        await settledOnDisk(hub)
        await hub.clock.advance(60_000)
        hub.restart()
        const later = await hub.connect('manager')
        await until(() => later.isComplete('contentConfig'))
        expect(later.all('contentConfig').get('packages/a')).toEqual(aContentConfig('a'))
      })

      it('goes when any requester retracts it', async () => {
        const one = await hub.connect('requester')
        one.publish('contentConfig', 'packages/a', aContentConfig('a'), { keep: true })
        await until(() => one.all('contentConfig').has('packages/a'))
        one.close()
        const other = await hub.connect('requester')
        expect(other.all('contentConfig').has('packages/a')).toBe(true)
        other.retract('contentConfig', 'packages/a')
        await until(() => !other.all('contentConfig').has('packages/a'))
        expect(readdirSync(hub.directory)).toEqual([])
      })

      it('is refused for topics that are never kept', async () => {
        const raw = await hub.connectRaw('requester')
        raw.read()
        const value = { rehash: 'off', quarantine: 0 }
        raw.send({ do: 'put', topic: 'verifierSettings', key: '', value, keep: { n: 1 } })
        await raw.closed
        expect(raw.heard.at(-1)).toMatchObject({ do: 'fault', code: 'message.not-allowed' })
        expect(readdirSync(hub.directory)).toEqual([])
      })

      it('that cannot be read is told and left, and does not hinder the others', async () => {
        const requester = await hub.connect('requester')
        requester.publish('contentConfig', 'packages/a', aContentConfig('a'), { keep: true })
        await until(() => requester.all('contentConfig').has('packages/a'))
        const broken = { 'a.json': '{"password": "secret', 'b.json': '{"topic":"isolation","key":"x","value":{}}' }
        for (const [file, text] of Object.entries(broken)) writeFileSync(join(hub.directory, file), text)
        hub.restart()
        expect(hub.log).toHaveLength(2)
        expect(hub.log.join()).not.toContain('secret')
        expect(Object.keys(broken).every(file => existsSync(join(hub.directory, file)))).toBe(true)
        const manager = await hub.connect('manager')
        expect([...manager.all('contentConfig').keys()]).toEqual(['packages/a'])
      })

      it('that the disk does not take is told to the requester and held unkept', async () => {
        await hub.close()
        hub = testHub(openTransport(), faultyFiles(realFiles, { failAt: 1, code: 'ENOSPC' }))
        const requester = await hub.connect('requester')
        requester.publish('contentConfig', 'packages/a', aContentConfig('a'), { keep: true })
        await until(() => requester.faults.length > 0 && requester.all('contentConfig').size === 1)
        expect(requester.faults.map(({ code }) => code)).toEqual(['request.not-kept'])
        expect(readdirSync(hub.directory)).toEqual([])
      })
    })

    describe('a call', () => {
      it('is answered with a value or with an error, in any order', async () => {
        const gate = Promise.withResolvers<void>()
        const peer = await hub.connect('manager', {
          onCall: async (call, args) => {
            if (call === 'slow') await gate.promise
            if (call === 'bad') throw new CairnError('sync.refused', 'no')
            return { call, args }
          },
        })
        const slow = peer.call('slow', 1)
        await expect(peer.call('bad', null)).rejects.toMatchObject({ code: 'sync.refused' })
        await expect(peer.call('quick', [2])).resolves.toEqual({ call: 'quick', args: [2] })
        gate.resolve()
        await expect(slow).resolves.toEqual({ call: 'slow', args: 1 })
      })

      it('fails when the channel closes first', async () => {
        const peer = await hub.connect('manager', { onCall: () => new Promise(() => {}) })
        const call = peer.call('slow', null)
        peer.link.destroy()
        await expect(call).rejects.toMatchObject({ code: 'channel.closed' })
      })

      it('and a heartbeat reach only who listens on that channel', async () => {
        let beats = 0
        const peer = await hub.connect('verifier', { onBeat: () => beats++ })
        peer.beat()
        await until(() => beats === 1)
      })
    })

    it('delivers what was said just before a peer closes', async () => {
      const manager = await hub.connect('manager')
      const requester = await hub.connect('requester')
      requester.publish('contentConfig', 'packages/a', aContentConfig('a'), { keep: true })
      requester.close()
      await until(() => manager.all('contentConfig').has('packages/a'))
    })
  })

  /** Everything that is under way on another channel has passed: one more round trip on each of two. */
  async function settledOnDisk(hub: ReturnType<typeof testHub>) {
    const verifier = await hub.connect('verifier')
    const watcher = await hub.connect('watcher')
    await settled(verifier, watcher)
    watcher.close()
  }
}

function codeOf(action: () => void): string | null {
  try {
    action()
    return null
  } catch (error) {
    return error instanceof CairnError ? error.code : String(error)
  }
}
