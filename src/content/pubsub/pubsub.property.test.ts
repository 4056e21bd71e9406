// Whatever is said in whatever order, and however often channels are cut, frames repeated, processes replaced and the hub
// started again: in the end every mirror holds what is said, and nothing else.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { realFiles } from '../../lib/files.ts'
import type { PeerRole } from '../topics.ts'
import { createPeer, type DetachedPeer } from './create-peer.ts'
import { openHub } from './hub.ts'
import type { Link } from './link.ts'
import { memoryLinks } from './memory-link.ts'
import { aContentConfig, aVerifyStatus } from './pubsub.fake.ts'
import { steppedClock } from './stepped-clock.fake.ts'

type Who = 'one' | 'other'
type Step =
  | { do: 'ask'; who: Who; key: string; value: string }
  | { do: 'keep'; key: string; value: string }
  | { do: 'retract'; who: Who; key: string }
  | { do: 'let go'; key: string }
  | { do: 'verify'; key: string; size: number }
  | { do: 'unverify'; key: string }
  | { do: 'cut'; what: 'one' | 'other' | 'manager' | 'verifier' }
  | { do: 'replace the verifier'; keys: readonly string[] }
  | { do: 'restart the hub' }
  | { do: 'wait'; turns: number }

const key = fc.constantFrom('a', 'b', 'c')
const who = fc.constantFrom<Who>('one', 'other')
const value = fc.constantFrom('x', 'y')
const steps = fc.array(
  fc.oneof<fc.Arbitrary<Step>[]>(
    fc.record({ do: fc.constant('ask'), who, key, value }),
    fc.record({ do: fc.constant('keep'), key, value }),
    fc.record({ do: fc.constant('retract'), who, key }),
    fc.record({ do: fc.constant('let go'), key }),
    fc.record({ do: fc.constant('verify'), key, size: fc.nat(2) }),
    fc.record({ do: fc.constant('unverify'), key }),
    fc.record({ do: fc.constant('cut'), what: fc.constantFrom('one', 'other', 'manager', 'verifier') }),
    fc.record({ do: fc.constant('replace the verifier'), keys: fc.uniqueArray(key) }),
    fc.record({ do: fc.constant('restart the hub') }),
    fc.record({ do: fc.constant('wait'), turns: fc.nat(3) }),
  ),
  { maxLength: 40 },
)

it('every mirror equals what is said in the end', async () => {
  await fc.assert(
    fc.asyncProperty(steps, fc.boolean(), async (plan, repeats) => {
      const world = aWorld(repeats)
      try {
        for (const step of plan) await world.take(step)
        await world.check()
      } finally {
        world.close()
      }
    }),
    {
      numRuns: Number(process.env.CAIRN_RUNS ?? 100),
      ...(process.env.CAIRN_SEED && { seed: Number(process.env.CAIRN_SEED) }),
    },
  )
}, 60_000)

function aWorld(repeats: boolean) {
  const requests = mkdtempSync(join(tmpdir(), 'cairn-hub-'))
  const clock = steppedClock()
  const open = () => openHub({ requests, files: realFiles, clock, log: () => {} })
  let hub = open()
  let closed = false
  /** They do not come back. */
  const left = new Set<DetachedPeer>()

  const enter = (role: PeerRole) => {
    let link: Link
    const attach = () => {
      const [theirs, ours] = memoryLinks()
      link = repeats ? saysTwice(ours) : ours
      hub.accept(theirs, { role })
      peer.attach(link).catch(() => {})
    }
    const peer: DetachedPeer = createPeer({ detached: () => !closed && !left.has(peer) && attach() })
    attach()
    return { detached: peer, peer: peer.peer, cut: () => link.destroy() }
  }

  const peers = {
    one: enter('requester'),
    other: enter('requester'),
    manager: enter('manager'),
    verifier: enter('verifier'),
  }
  const asked = { one: new Map<string, string>(), other: new Map<string, string>() }
  const kept = new Map<string, string>()
  const verified = new Map<string, number>()
  peers.verifier.peer.complete('verifyStatus')

  const take = async (step: Step): Promise<unknown> => {
    const { one, verifier } = peers
    switch (step.do) {
      case 'ask':
        asked[step.who].set(step.key, step.value)
        return peers[step.who].peer.publish('contentConfig', step.key, aContentConfig(step.key, step.value))
      case 'keep':
        kept.set(step.key, step.value)
        return one.peer.publish('contentConfig', `kept-${step.key}`, aContentConfig(step.key, step.value), {
          keep: true,
        })
      case 'retract':
        asked[step.who].delete(step.key)
        return peers[step.who].peer.retract('contentConfig', step.key)
      case 'let go':
        kept.delete(step.key)
        return one.peer.retract('contentConfig', `kept-${step.key}`)
      case 'verify':
        verified.set(step.key, step.size)
        return verifier.peer.publish('verifyStatus', step.key, aVerifyStatus({ size: step.size }))
      case 'unverify':
        verified.delete(step.key)
        return verifier.peer.retract('verifyStatus', step.key)
      case 'cut':
        return peers[step.what].cut()
      case 'replace the verifier':
        left.add(verifier.detached)
        verifier.cut()
        peers.verifier = enter('verifier')
        verified.clear()
        for (const key of step.keys) {
          verified.set(key, 9)
          peers.verifier.peer.publish('verifyStatus', key, aVerifyStatus({ size: 9 }))
        }
        return peers.verifier.peer.complete('verifyStatus')
      case 'restart the hub':
        hub.close()
        hub = open()
        return turns(5)
      case 'wait':
        return turns(step.turns)
    }
  }

  const check = async () => {
    await turns(20)
    await clock.advance(30_000)
    await turns(20)
    const { one, other, manager } = peers
    expect(manager.peer.isComplete('verifyStatus')).toBe(true)
    expect(sizes(manager.peer.all('verifyStatus'))).toEqual(sorted(verified))
    const names = [one, other, manager].map(({ peer }) =>
      sorted([...peer.all('contentConfig')].map(([key, { ref }]) => [key, ref.name] as const)),
    )
    expect(names[0]).toEqual(names[2])
    expect(names[1]).toEqual(names[2])
    const keptNow = names[2]!.filter(([key]) => key.startsWith('kept-'))
    expect(keptNow).toEqual(sorted([...kept].map(([key, name]) => [`kept-${key}`, name] as const)))
    const askedNow = names[2]!.filter(([key]) => !key.startsWith('kept-'))
    expect(askedNow.map(([key]) => key)).toEqual([...new Set([...asked.one.keys(), ...asked.other.keys()])].sort())
    // With two who differ either may have been the last: one that was cut says its own again.
    for (const [key, name] of askedNow) expect([asked.one.get(key), asked.other.get(key)]).toContain(name)
  }

  const close = () => {
    closed = true
    hub.close()
    rmSync(requests, { recursive: true, force: true })
  }
  return { take, check, close }
}

/** A link on which what may be repeated arrives twice. */
const saysTwice = (link: Link): Link => ({
  ...link,
  send: frame => {
    const once = /^\{"do":"(hello|call)"/.test(Buffer.from(frame).toString('latin1'))
    return link.send(frame) && (once || link.send(frame))
  },
})

const turns = async (count: number) => {
  for (let turn = 0; turn < count; turn++) await new Promise(done => setImmediate(done))
}

const sorted = <Value>(entries: Iterable<readonly [string, Value]>) => [...entries].sort(([a], [b]) => (a < b ? -1 : 1))
const sizes = (all: ReadonlyMap<string, { size: number }>) =>
  sorted([...all].map(([key, { size }]) => [key, size] as const))
