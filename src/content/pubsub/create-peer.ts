// A peer apart from its link: what it says and its mirror of the others outlive a link, and are brought in line with the hub
// whenever it is given a new one. openPeer is this with one link; the service has it with one after another.
import { randomUUID } from 'node:crypto'
import { CairnError, messageOf, unreachable } from '../../lib/errors.ts'
import { type Message, type TopicName, topics } from '../topics.ts'
import { mayKeep } from './kept.ts'
import type { Link } from './link.ts'
import { type Outbox, openOutbox } from './outbox.ts'
import type { Change, Peer } from './peer.ts'
import { canonical } from './published.ts'
import {
  decode,
  encode,
  encodePut,
  type Fault,
  issuesOf,
  maxKey,
  maxValue,
  protocol,
  type ToPeer,
  toPeerSchema,
} from './wire.ts'

/** A peer with what only the other side of this very channel can do. */
export interface HubPeer extends Peer {
  /** Asks the supervisor; rejects with its CairnError, or `channel.closed`. */
  call(name: string, args: unknown): Promise<unknown>
  beat(): void
}

export interface PeerEvents {
  /** The link is gone; with the reason when the hub closed it. */
  detached(fault: Fault | null): void
  /** Something that was published was not taken, or not kept. */
  refused?(fault: Fault): void
}

export interface DetachedPeer {
  readonly peer: HubPeer
  /** Resolves when the hub has said all that is there; rejects when the link closes before. */
  attach(link: Link): Promise<void>
  attached(): boolean
  /** The end: tells the listeners. */
  close(): void
}

interface Said {
  readonly text: string
  /** Numbers what the hub is still to confirm. */
  readonly keep?: { n: number }
}

interface Attached {
  readonly link: Link
  readonly outbox: Outbox
  /** Keys of the snapshot so far; null when it is over. */
  listing: Map<TopicName, Set<string>> | null
  readonly listed: PromiseWithResolvers<void>
}

export function createPeer(events: PeerEvents): DetachedPeer {
  const session = randomUUID()
  const said = perTopic(() => new Map<string, Said>())
  /** Retractions that the hub has not confirmed, with their numbers. */
  const retracted = perTopic(() => new Map<string, number>())
  const mine = new Set<TopicName>()
  const mirror = perTopic(() => new Map<string, unknown>())
  const incarnations = perTopic(() => new Map<string, number>())
  const complete = new Set<TopicName>()
  const calls = new Map<number, PromiseWithResolvers<unknown>>()
  const changeListeners = new Set<(changes: readonly Change[]) => void>()
  const closeListeners: (() => void)[] = []
  let attached: Attached | null = null
  let hub: string | null = null
  let fault: Fault | null = null
  let closed = false
  let numbers = 0
  let changes: Change[] = []
  let notifying = false

  const notifySoon = () => {
    if (notifying) return
    notifying = true
    queueMicrotask(notify)
  }
  const notify = () => {
    if (!notifying) return
    notifying = false
    const batch = changes
    changes = []
    for (const listener of changeListeners) listener(batch)
  }
  const changed = (topic: TopicName, key: string) => {
    changes.push({ topic, key })
    notifySoon()
  }
  const drop = (topic: TopicName, key: string) => {
    incarnations[topic].delete(key)
    if (mirror[topic].delete(key)) changed(topic, key)
  }

  const sendPut = (outbox: Outbox, topic: TopicName, key: string) =>
    outbox.add(`put\0${topic}\0${key}`, () => {
      const { text, keep } = said[topic].get(key)!
      return encodePut({ do: 'put', topic, key, ...(keep && { keep }) }, text)
    })
  const sendRetract = (outbox: Outbox, topic: TopicName, key: string, n: number) => {
    outbox.remove(`put\0${topic}\0${key}`)
    outbox.add(`retract\0${topic}\0${key}`, () => encode({ do: 'retract', topic, key, n }))
  }

  const take = (message: ToPeer) => {
    switch (message.do) {
      case 'hello':
        if (hub !== message.hub) for (const topic of topicNames) incarnations[topic].clear()
        hub = message.hub
        return complete.clear()
      case 'put': {
        const { topic, key } = message
        const before = incarnations[topic].get(key)
        if (before !== undefined && before !== message.incarnation) {
          drop(topic, key)
          notify()
        }
        attached?.listing?.get(topic)?.add(key)
        incarnations[topic].set(key, message.incarnation)
        // After a reconnect most of the snapshot is what was known before.
        if (attached?.listing && isSame(mirror[topic].get(key), message.value)) return
        mirror[topic].set(key, message.value)
        return changed(topic, key)
      }
      case 'gone':
        return drop(message.topic, message.key)
      case 'listed': {
        for (const [topic, keys] of attached?.listing ?? [])
          for (const key of [...mirror[topic].keys()]) if (!keys.has(key)) drop(topic, key)
        attached!.listing = null
        return attached?.listed.resolve()
      }
      case 'complete':
        complete.add(message.topic)
        return notifySoon()
      case 'done': {
        // Confirms all that was asked of this key up to `n`. The hub has it now, whoever changes it later: it is not said again.
        const { topic, key, n } = message
        if ((retracted[topic].get(key) ?? n + 1) <= n) retracted[topic].delete(key)
        if ((said[topic].get(key)?.keep?.n ?? n + 1) <= n) said[topic].delete(key)
        return
      }
      case 'refused':
        return events.refused?.(message)
      case 'answer':
        calls.get(message.id)?.resolve(message.value)
        return void calls.delete(message.id)
      case 'failed':
        calls.get(message.id)?.reject(new CairnError(message.code, message.text))
        return void calls.delete(message.id)
      case 'fault':
        fault = { code: message.code, text: message.text }
        return
      default:
        return unreachable(message)
    }
  }

  const attach = (link: Link): Promise<void> => {
    const outbox = openOutbox(link)
    const listed = Promise.withResolvers<void>()
    const listing = new Map(topicNames.map(topic => [topic, new Set<string>()]))
    const here: Attached = { link, outbox, listing, listed }
    attached = here
    fault = null
    outbox.add('hello', () => encode({ do: 'hello', protocol, session }))
    for (const topic of topicNames) {
      for (const [key, n] of retracted[topic]) sendRetract(outbox, topic, key, n)
      for (const key of said[topic].keys()) sendPut(outbox, topic, key)
    }
    outbox.add('resaid', () => encode({ do: 'resaid' }))
    for (const topic of mine) outbox.add(`complete\0${topic}`, () => encode({ do: 'complete', topic }))
    link.start({
      frame: bytes => {
        if (attached !== here) return
        const message = understood(bytes)
        if (message) take(message)
        else link.destroy()
      },
      tooLong: () => link.destroy(),
      drain: outbox.drain,
      close: () => {
        if (attached === here) detach(here)
      },
    })
    return listed.promise
  }

  const understood = (bytes: Buffer): ToPeer | null => {
    try {
      return decode(toPeerSchema, bytes)
    } catch (error) {
      fault = { code: 'frame.invalid', text: messageOf(error) }
      return null
    }
  }

  const detach = ({ listed }: Attached) => {
    attached = null
    const gone = new CairnError(
      fault?.code ?? 'channel.closed',
      fault?.text ?? 'the channel to the supervisor is closed',
    )
    // Whoever waits hears of it; nobody has to.
    listed.promise.catch(() => {})
    listed.reject(gone)
    for (const { reject } of calls.values()) reject(gone)
    calls.clear()
    events.detached(fault)
  }

  const close = () => {
    if (closed) return
    closed = true
    attached?.outbox.end()
    for (const listener of closeListeners) listener()
  }

  return {
    attach,
    attached: () => attached !== null,
    close,
    peer: {
      publish: (topic, key, value, { keep = false } = {}) => {
        const text = checked(topic, key, value)
        const before = said[topic].get(key)
        if (before?.text === text && (before.keep !== undefined) === keep) return
        said[topic].set(key, { text, ...(keep && { keep: { n: ++numbers } }) })
        if (attached) sendPut(attached.outbox, topic, key)
      },
      retract: (topic, key) => {
        if (!said[topic].delete(key) && !mayKeep(topic)) return
        const n = ++numbers
        if (mayKeep(topic)) retracted[topic].set(key, n)
        if (attached) sendRetract(attached.outbox, topic, key, n)
      },
      complete: topic => {
        mine.add(topic)
        attached?.outbox.add(`complete\0${topic}`, () => encode({ do: 'complete', topic }))
      },
      all: <T extends TopicName>(topic: T) => mirror[topic] as unknown as ReadonlyMap<string, Message<T>>,
      isComplete: topic => complete.has(topic),
      onChange: listener => {
        changeListeners.add(listener)
        return () => void changeListeners.delete(listener)
      },
      onClose: listener => (closed ? queueMicrotask(listener) : void closeListeners.push(listener)),
      close,
      call: (name, args) => {
        if (!attached) return Promise.reject(new CairnError('channel.closed', 'there is no channel to the supervisor'))
        const id = ++numbers
        const answer = Promise.withResolvers<unknown>()
        calls.set(id, answer)
        attached.outbox.add(`call\0${id}`, () => encode({ do: 'call', id, name, args }))
        return answer.promise
      },
      beat: () => {
        attached?.outbox.add('beat', () => encode({ do: 'beat' }))
      },
    },
  }
}

const topicNames = Object.keys(topics) as TopicName[]

const isSame = (one: unknown, other: unknown) => one !== undefined && canonical(one) === canonical(other)

const perTopic = <Value>(make: () => Value) =>
  Object.fromEntries(topicNames.map(topic => [topic, make()])) as Record<TopicName, Value>

/** The same rules that the hub has, where a mistake can be seen with its cause. */
function checked(topic: TopicName, key: string, value: unknown): string {
  const message = topics[topic].schema.safeParse(value)
  if (!message.success) throw new CairnError('message.invalid', `${topic}: ${issuesOf(message.error)}`)
  if (key.length > maxKey) throw new CairnError('message.invalid', `${topic}: the key is too long`)
  const text = canonical(message.data)
  if (Buffer.byteLength(text) > maxValue)
    throw new CairnError('message.too-large', `a value of ${topic} is larger than a message may be`)
  return text
}
