// The one place where all channels meet: holds the latest value of every topic and key and tells it to those who may read it.
//
// Holds: what a channel may say and hear comes from its role; a message that is wrong in any way closes its channel and
// changes nothing. A reader gets everything that is there, then what changes. The values of a process outlive it until its
// successor has said its set; those of a requester by half a minute, unless they are kept, which is on disk before it is told.
import { randomUUID } from 'node:crypto'
import type { Clock } from '../../lib/clock.ts'
import { CairnError, messageOf, unreachable } from '../../lib/errors.ts'
import type { Files } from '../../lib/files.ts'
import type { ProblemCode } from '../../lib/problem.ts'
import { redact } from '../../lib/redact.ts'
import { processNames } from '../messages.ts'
import { type Message, type PeerRole, type TopicName, topics } from '../topics.ts'
import { mayKeep, openKept } from './kept.ts'
import type { Link } from './link.ts'
import { type Outbox, openOutbox } from './outbox.ts'
import { canonical, openPublished } from './published.ts'
import { decode, encode, encodePut, type Fault, issuesOf, maxValue, protocol, type ToHub, toHubSchema } from './wire.ts'

export interface HubOptions {
  /** Where kept requests are; it exists. */
  readonly requests: string
  readonly files: Files
  readonly clock: Clock
  readonly log: (line: string) => void
}

export interface ChannelOptions {
  readonly role: PeerRole
  /** Answers what this channel asks; a CairnError that it throws goes back to the one who asked. Absent: nothing may be asked. */
  readonly onCall?: (name: string, args: unknown) => Promise<unknown>
  readonly onBeat?: () => void
  /** With the reason when the hub closed it. */
  readonly onClose?: (fault: Fault | null) => void
}

export interface Hub {
  /** Takes one end of a channel; the other one is openPeer's. */
  accept(link: Link, options: ChannelOptions): void
  /** All that is published on a topic now. */
  read<T extends TopicName>(topic: T): Map<string, Message<T>>
  /** Closes all channels. */
  close(): void
}

/** How long the unkept values of a requester stay when its channel is gone. */
const requesterGraceMs = 30_000
/** Calls of one channel that may be under way. */
const maxCalls = 4096
/** The publisher of what is on disk. */
const keeper = 'kept'

const topicNames = Object.keys(topics) as TopicName[]

interface Channel {
  readonly role: PeerRole
  readonly outbox: Outbox
  readonly fail: (fault: Fault) => void
}

/** Something that the disk is asked for, and the peer waits to hear of. */
interface Numbered {
  readonly topic: TopicName
  readonly key: string
  readonly n: number
}

/** Who says something: a process, over all its lives, or a session of a requester, over all its connections. */
interface Publisher {
  readonly id: string
  channel: Channel | null
  connections: number
  /** Topic and key to the connection in which it was said last. */
  readonly said: Map<TopicName, Map<string, number>>
  /** Aborted when it comes back in time. */
  leaving: AbortController | null
}

export function openHub({ requests, files, clock, log }: HubOptions): Hub {
  const hubId = randomUUID()
  const kept = openKept(files, requests, log)
  const channels = new Set<Channel>()
  /** Those that have said hello, and may read. */
  const readers = new Set<Channel>()
  const publishers = new Map<string, Publisher>()
  const complete = new Set(topicNames.filter(topic => mayPublish('requester', topic)))
  let closed = false

  const published = openPublished((topic, key) => {
    for (const reader of readers) if (mayRead(reader.role, topic)) tell(reader, topic, key)
  })
  for (const { topic, key, text } of kept.all) published.put(topic, key, { publisher: keeper, text })

  const tell = ({ outbox }: Channel, topic: TopicName, key: string) =>
    outbox.add(`value\0${topic}\0${key}`, () => {
      const value = published.get(topic, key)
      if (!value) return encode({ do: 'gone', topic, key })
      return encodePut({ do: 'put', topic, key, incarnation: value.incarnation }, value.text)
    })
  const tellComplete = ({ outbox }: Channel, topic: TopicName) =>
    outbox.add(`complete\0${topic}`, () => encode({ do: 'complete', topic }))

  const join = (channel: Channel, session: string): Publisher => {
    const id = isProcess(channel.role) ? channel.role : `${channel.role} ${session}`
    const publisher = publishers.get(id) ?? { id, channel: null, connections: 0, said: new Map(), leaving: null }
    publishers.set(id, publisher)
    publisher.channel?.fail({ code: 'channel.replaced', text: 'the same peer has opened another channel' })
    publisher.leaving?.abort()
    publisher.channel = channel
    publisher.connections++
    channel.outbox.add('hello', () => encode({ do: 'hello', hub: hubId }))
    const readable = topicNames.filter(topic => mayRead(channel.role, topic))
    for (const topic of readable) for (const key of published.keys(topic)) tell(channel, topic, key)
    channel.outbox.add('listed', () => encode({ do: 'listed' }))
    for (const topic of readable) if (complete.has(topic)) tellComplete(channel, topic)
    readers.add(channel)
    return publisher
  }

  const leave = (publisher: Publisher) => {
    publisher.channel = null
    if (isProcess(publisher.id) || closed) return
    const leaving = new AbortController()
    publisher.leaving = leaving
    clock.sleep(requesterGraceMs, leaving.signal).then(
      () => {
        forgetOlder(publisher, topicNames, Number.POSITIVE_INFINITY)
        publishers.delete(publisher.id)
      },
      () => {},
    )
  }

  /** Takes back what this publisher said only before that connection. */
  const forgetOlder = ({ id, said }: Publisher, among: readonly TopicName[], connection: number) => {
    for (const topic of among)
      for (const [key, saidIn] of said.get(topic) ?? [])
        if (saidIn < connection) {
          said.get(topic)?.delete(key)
          published.retract(topic, key, id)
        }
  }

  const put = (channel: Channel, publisher: Publisher, message: ToHub & { do: 'put' }) => {
    const { key, keep } = message
    const topic = publishable(channel.role, message.topic)
    if (keep && !mayKeep(topic)) throw new CairnError('message.not-allowed', `${topic} is not kept`)
    const value = topics[topic].schema.safeParse(message.value)
    if (!value.success) throw new CairnError('message.invalid', `${topic}: ${issuesOf(value.error)}`)
    const text = canonical(value.data)
    if (Buffer.byteLength(text) > maxValue) {
      const fault = { code: 'message.too-large', text: `a value of ${topic} is too large` } as const
      channel.outbox.add(`put\0${topic}\0${key}`, () => encode({ do: 'refused', topic, key, ...fault }))
      return
    }
    if (keep && onDisk(channel, { topic, key, n: keep.n }, () => keepOnDisk(topic, key, text))) {
      published.put(topic, key, { publisher: keeper, text })
      unsay(publisher, topic, key)
    } else {
      say(publisher, topic, key)
      published.put(topic, key, { publisher: publisher.id, text })
    }
  }

  const keepOnDisk = (topic: TopicName, key: string, text: string) => {
    if (published.said(topic, key, keeper) !== text) kept.write({ topic, key, text })
  }

  const retract = (channel: Channel, publisher: Publisher, message: ToHub & { do: 'retract' }) => {
    const { key, n } = message
    const topic = publishable(channel.role, message.topic)
    unsay(publisher, topic, key)
    if (!mayKeep(topic)) return
    const forget = () => {
      if (published.said(topic, key, keeper) !== undefined) kept.remove(topic, key)
    }
    if (onDisk(channel, { topic, key, n }, forget)) published.retract(topic, key, keeper)
  }

  const say = ({ said, connections }: Publisher, topic: TopicName, key: string) => {
    const keys = said.get(topic) ?? new Map<string, number>()
    said.set(topic, keys.set(key, connections))
  }
  const unsay = ({ id, said }: Publisher, topic: TopicName, key: string) => {
    said.get(topic)?.delete(key)
    published.retract(topic, key, id)
  }

  /** A disk that cannot take it is told to the peer, and ends nothing. */
  const onDisk = ({ outbox }: Channel, { topic, key, n }: Numbered, change: () => void) => {
    let fault: Fault | null = null
    try {
      change()
    } catch (error) {
      fault = { code: 'request.not-kept', text: redact(messageOf(error)) }
      log(`${topic} cannot be kept: ${fault.text}`)
    }
    const answer = encode(fault ? { do: 'refused', topic, key, ...fault } : { do: 'done', topic, key, n })
    outbox.add(`done\0${topic}\0${key}`, () => answer)
    return fault === null
  }

  const markComplete = (channel: Channel, publisher: Publisher, topic: TopicName) => {
    if (isProcess(channel.role)) forgetOlder(publisher, [topic], publisher.connections)
    if (complete.has(topic)) return
    complete.add(topic)
    for (const reader of readers) if (mayRead(reader.role, topic)) tellComplete(reader, topic)
  }

  const accept = (link: Link, { role, onCall, onBeat, onClose }: ChannelOptions) => {
    const outbox = openOutbox(link)
    let publisher: Publisher | null = null
    let open = true
    let calls = 0

    const gone = (fault: Fault | null) => {
      if (!open) return
      open = false
      outbox.clear()
      channels.delete(channel)
      readers.delete(channel)
      if (publisher?.channel === channel) leave(publisher)
      onClose?.(fault)
    }
    const fail = (fault: Fault) => {
      if (!open) return
      link.send(encode({ do: 'fault', ...fault }))
      link.end()
      gone(fault)
    }
    const channel: Channel = { role, outbox, fail }
    channels.add(channel)

    const answer = ({ id, name, args }: ToHub & { do: 'call' }) => {
      if (!onCall || calls >= maxCalls) throw new CairnError('message.not-allowed', 'no call is answered here now')
      calls++
      const reply = (frame: Buffer) => {
        calls--
        if (open) outbox.add(`answer\0${id}`, () => frame)
      }
      onCall(name, args).then(
        value => reply(encode({ do: 'answer', id, ...(value !== undefined && { value }) })),
        error => reply(encode({ do: 'failed', id, ...faultOf(error, 'call.failed') })),
      )
    }

    const take = (message: ToHub) => {
      if (message.do === 'hello') {
        if (publisher) throw new CairnError('frame.invalid', 'hello is said once')
        if (message.protocol !== protocol)
          throw new CairnError('protocol.unknown', `protocol ${message.protocol} is not spoken here, but ${protocol}`)
        publisher = join(channel, message.session)
        return
      }
      if (!publisher) throw new CairnError('frame.invalid', 'hello comes first')
      switch (message.do) {
        case 'put':
          return put(channel, publisher, message)
        case 'retract':
          return retract(channel, publisher, message)
        case 'complete':
          return markComplete(channel, publisher, publishable(role, message.topic))
        case 'resaid':
          return isProcess(role) ? undefined : forgetOlder(publisher, topicNames, publisher.connections)
        case 'call':
          return answer(message)
        case 'beat':
          return onBeat?.()
        default:
          return unreachable(message)
      }
    }

    link.start({
      frame: bytes => {
        if (!open) return
        try {
          take(decode(toHubSchema, bytes))
        } catch (error) {
          fail(faultOf(error, 'frame.invalid'))
        }
      },
      tooLong: () => fail({ code: 'frame.too-long', text: 'a frame has at most 16 MiB' }),
      drain: outbox.drain,
      close: () => gone(null),
    })
  }

  return {
    accept: (link, options) => (closed ? link.destroy() : accept(link, options)),
    read: topic => new Map([...published.keys(topic)].map(key => [key, JSON.parse(published.get(topic, key)!.text)])),
    close: () => {
      closed = true
      for (const { leaving } of publishers.values()) leaving?.abort()
      for (const channel of [...channels]) channel.fail({ code: 'channel.closed', text: 'the supervisor ends' })
    },
  }
}

const isProcess = (role: string): boolean => (processNames as readonly string[]).includes(role)
const mayPublish = (role: PeerRole, topic: TopicName) => (topics[topic].from as readonly PeerRole[]).includes(role)
const mayRead = (role: PeerRole, topic: TopicName) => (topics[topic].to as readonly PeerRole[]).includes(role)

function publishable(role: PeerRole, topic: string): TopicName {
  if (Object.hasOwn(topics, topic) && mayPublish(role, topic as TopicName)) return topic as TopicName
  throw new CairnError('message.not-allowed', `a ${role} does not publish ${JSON.stringify(topic)}`)
}

const faultOf = (error: unknown, code: ProblemCode): Fault => ({
  code: error instanceof CairnError ? error.code : code,
  text: redact(messageOf(error)).slice(0, 4000),
})
