// The hub's side of a channel, in memory: a test says what others publish and reads what the process said.
import { setImmediate as turn } from 'node:timers/promises'
import type { Change, Peer } from '../pubsub/peer.ts'
import { type Message, type TopicName, topics } from '../topics.ts'

export interface FakePeer extends Peer {
  /** As another process would publish or retract it. */
  set<T extends TopicName>(topic: T, key: string, value: Message<T>): void
  remove(topic: TopicName, key: string): void
  /** Beside the last value of it, when there is one: both come in one batch. */
  setComplete<T extends TopicName>(topic: T, last?: readonly [key: string, value: Message<T>]): void
  /** The last value that the process published. */
  said<T extends TopicName>(topic: T, key: string): Message<T> | undefined
  /** All that it ever said of a key, in order; undefined is a retraction. */
  history<T extends TopicName>(topic: T, key: string): (Message<T> | undefined)[]
  readonly completed: ReadonlySet<TopicName>
}

export function fakePeer(): FakePeer {
  const mirror = new Map<TopicName, Map<string, unknown>>()
  const complete = new Set<TopicName>()
  const completed = new Set<TopicName>()
  const said: { topic: TopicName; key: string; value: unknown }[] = []
  const listeners: ((changes: readonly Change[]) => void)[] = []
  const closers: (() => void)[] = []

  const mapOf = (topic: TopicName) => {
    const map = mirror.get(topic) ?? new Map<string, unknown>()
    mirror.set(topic, map)
    return map
  }
  const tell = (changes: Change[]) => {
    for (const listener of listeners) listener(changes)
  }
  const historyOf = (topic: TopicName, key: string) =>
    said.filter(one => one.topic === topic && one.key === key).map(({ value }) => value)
  return {
    publish(topic, key, value) {
      // What the hub would refuse is a defect of the process.
      const checked = topics[topic].schema.parse(value)
      if (JSON.stringify(historyOf(topic, key).at(-1)) !== JSON.stringify(checked))
        said.push({ topic, key, value: checked })
    },
    retract: (topic, key) => void said.push({ topic, key, value: undefined }),
    complete: topic => void completed.add(topic),
    all: (topic => mapOf(topic)) as Peer['all'],
    isComplete: topic => complete.has(topic),
    onChange: listener => {
      listeners.push(listener)
      return () => void listeners.splice(listeners.indexOf(listener), 1)
    },
    onClose: listener => {
      closers.push(listener)
    },
    close() {
      for (const closer of closers) closer()
    },

    set(topic, key, value) {
      mapOf(topic).set(key, topics[topic].schema.parse(value))
      tell([{ topic, key }])
    },
    remove(topic, key) {
      mapOf(topic).delete(key)
      tell([{ topic, key }])
    },
    setComplete(topic, last) {
      complete.add(topic)
      if (last) mapOf(topic).set(last[0], topics[topic].schema.parse(last[1]))
      tell(last ? [{ topic, key: last[0] }] : [])
    },
    said: ((topic, key) => historyOf(topic, key).at(-1)) as FakePeer['said'],
    history: historyOf as FakePeer['history'],
    completed,
  }
}

/** Lets everything that is under way go on until the condition holds. */
export async function until(condition: () => boolean, what = () => 'the condition') {
  const deadline = performance.now() + 10_000
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`waited in vain for ${what()}`)
    await turn()
  }
}
