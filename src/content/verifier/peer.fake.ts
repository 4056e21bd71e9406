// A peer without a hub: a test says what the other processes would say, and sees what the verifier says. What it says must
// be a message of its topic.
import type { Change, Peer } from '../pubsub/peer.ts'
import { type Message, type TopicName, topics } from '../topics.ts'

export interface FakePeer extends Peer {
  /** As the other processes would; told at once. */
  say<T extends TopicName>(topic: T, key: string, value: Message<T>): void
  unsay(topic: TopicName, key: string): void
  finish(topic: TopicName): void
  /** What the verifier says now. */
  said<T extends TopicName>(topic: T): ReadonlyMap<string, Message<T>>
  /** All that it ever said of a key, oldest first; null for a retraction. */
  history<T extends TopicName>(topic: T, key: string): readonly (Message<T> | null)[]
  hasCompleted(topic: TopicName): boolean
  /** Resolves with what `look` finds; looks again after everything that the verifier says. */
  until<Value>(look: () => Value | undefined | false): Promise<Value>
}

export function fakePeer(): FakePeer {
  const mirror = new Map<TopicName, Map<string, unknown>>()
  const own = new Map<TopicName, Map<string, unknown>>()
  const log: { topic: TopicName; key: string; value: unknown }[] = []
  const finished = new Set<TopicName>()
  const completed = new Set<TopicName>()
  const listeners = new Set<(changes: readonly Change[]) => void>()
  const waiting = new Set<() => void>()

  const mapOf = (of: Map<TopicName, Map<string, unknown>>, topic: TopicName) => {
    const map = of.get(topic) ?? new Map<string, unknown>()
    of.set(topic, map)
    return map
  }
  const tell = (changes: readonly Change[]) => {
    for (const listener of listeners) listener(changes)
  }
  const note = (topic: TopicName, key: string, value: unknown) => {
    log.push({ topic, key, value })
    for (const check of [...waiting]) check()
  }

  return {
    publish: (topic, key, value) => {
      const text = JSON.stringify(topics[topic].schema.parse(value))
      const map = mapOf(own, topic)
      if (JSON.stringify(map.get(key)) === text) return
      map.set(key, JSON.parse(text))
      note(topic, key, JSON.parse(text))
    },
    retract: (topic, key) => {
      if (mapOf(own, topic).delete(key)) note(topic, key, null)
    },
    complete: topic => {
      completed.add(topic)
      for (const check of [...waiting]) check()
    },
    all: <T extends TopicName>(topic: T) => mapOf(mirror, topic) as ReadonlyMap<string, Message<T>>,
    isComplete: topic => finished.has(topic),
    onChange: listener => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    onClose: () => {},
    close: () => {},

    say: (topic, key, value) => {
      mapOf(mirror, topic).set(key, topics[topic].schema.parse(value))
      tell([{ topic, key }])
    },
    unsay: (topic, key) => {
      mapOf(mirror, topic).delete(key)
      tell([{ topic, key }])
    },
    finish: topic => {
      finished.add(topic)
      tell([])
    },
    said: <T extends TopicName>(topic: T) => mapOf(own, topic) as ReadonlyMap<string, Message<T>>,
    history: <T extends TopicName>(topic: T, key: string) =>
      log.filter(one => one.topic === topic && one.key === key).map(({ value }) => value as Message<T> | null),
    hasCompleted: topic => completed.has(topic),
    until: <Value>(look: () => Value | undefined | false) =>
      new Promise<Value>(resolve => {
        const check = () => {
          const found = look()
          if (found === undefined || found === false) return
          waiting.delete(check)
          resolve(found)
        }
        waiting.add(check)
        check()
      }),
  }
}
