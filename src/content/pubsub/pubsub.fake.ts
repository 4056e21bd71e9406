// A hub with a directory of its own, and peers on it over the transport under test.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Files, realFiles } from '../../lib/files.ts'
import type { ContentConfig, Sha256, VerifyStatus } from '../messages.ts'
import type { PeerRole } from '../topics.ts'
import { type ChannelOptions, openHub } from './hub.ts'
import type { Link } from './link.ts'
import { type OpenedPeer, openPeer } from './open-peer.ts'
import { steppedClock } from './stepped-clock.fake.ts'
import { decode, encode, type Fault, protocol, type ToHub, type ToPeer, toPeerSchema } from './wire.ts'

export interface Transport {
  /** Two ends of one channel: the hub's and the peer's. */
  pair(): Promise<[Link, Link]>
  close(): Promise<void>
}

export interface RawPeer {
  readonly link: Link
  send(message: ToHub): void
  /** What the hub said, since `read` was called. */
  readonly heard: ToPeer[]
  /** From here on it reads. */
  read(): void
  readonly closed: Promise<void>
}

export function testHub(transport: Transport, files: Files = realFiles) {
  const directory = mkdtempSync(join(tmpdir(), 'cairn-hub-'))
  const clock = steppedClock()
  const log: string[] = []
  const open = () => openHub({ requests: directory, files, clock, log: line => log.push(line) })
  let hub = open()

  const connect = async (role: PeerRole, options: Omit<ChannelOptions, 'role'> = {}): Promise<TestPeer> => {
    const [theirs, ours] = await transport.pair()
    hub.accept(theirs, { role, ...options })
    const faults: Fault[] = []
    const peer = openPeer(ours, fault => faults.push(fault))
    await peer.listed
    return { ...peer, link: ours, faults, closed: new Promise(done => peer.onClose(done)) }
  }

  /** Speaks frames, so that it can say what a peer never would. */
  const connectRaw = async (role: PeerRole, session: string | null = 'raw'): Promise<RawPeer> => {
    const [theirs, link] = await transport.pair()
    hub.accept(theirs, { role })
    if (session !== null) link.send(encode({ do: 'hello', protocol, session }))
    const heard: ToPeer[] = []
    const closed = Promise.withResolvers<void>()
    const read = () =>
      link.start({
        frame: bytes => heard.push(decode(toPeerSchema, bytes)),
        tooLong: () => {},
        drain: () => {},
        close: closed.resolve,
      })
    return { link, send: message => link.send(encode(message)), heard, read, closed: closed.promise }
  }

  return {
    directory,
    clock,
    log,
    connect,
    connectRaw,
    /** As after a reboot: only what is on disk is left. */
    restart: () => {
      hub.close()
      hub = open()
    },
    close: async () => {
      hub.close()
      await transport.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

export interface TestPeer extends OpenedPeer {
  readonly link: Link
  readonly faults: readonly Fault[]
  readonly closed: Promise<void>
}

/** Waits for what comes about elsewhere. Gives up before the test does, so that the test still cleans up. */
export async function until(holds: () => boolean): Promise<void> {
  const started = performance.now()
  while (!holds()) {
    if (performance.now() - started > 15_000) throw new Error(`waited in vain until ${holds}`)
    await new Promise(done => setTimeout(done, 2))
  }
}

/** All that was said before has arrived everywhere: a value that is said now has. */
export async function settled(from: TestPeer, at: TestPeer): Promise<void> {
  const key = `settled-${Math.random()}`
  from.publish('verifyStatus', key, aVerifyStatus())
  await until(() => at.all('verifyStatus').has(key))
  from.retract('verifyStatus', key)
  await until(() => !at.all('verifyStatus').has(key))
}

export const aVerifyStatus = (fields: Partial<VerifyStatus> = {}): VerifyStatus => ({
  state: 'verifying',
  size: 0,
  currentSize: 0,
  attempt: 0,
  expired: false,
  ...fields,
})

export const aContentConfig = (id: string, name = 'example.org/image'): ContentConfig => ({
  scope: 'packages',
  id,
  ref: {
    name,
    sources: [{ kind: 'registry', host: 'example.org', repository: 'image' }],
    sha256: 'a'.repeat(64) as Sha256,
    size: 0,
    platform: { os: 'linux', architecture: 'amd64' },
    trust: { policy: 'none', keys: [], certificates: [] },
  },
  until: 'verified',
})
