// The latest value of every topic and key, over all who publish them. The one that was put last counts; a key is gone when
// nobody says it any more. Says which keys changed; an equal value is no change.
import { canonicalJson, type Json } from '../../lib/json.ts'
import type { TopicName } from '../topics.ts'

export interface PublishedValue {
  /** Canonical. */
  readonly text: string
  /** Another one after the key was gone. */
  readonly incarnation: number
}

export interface Published {
  put(topic: TopicName, key: string, version: { publisher: string; text: string }): void
  retract(topic: TopicName, key: string, publisher: string): void
  get(topic: TopicName, key: string): PublishedValue | undefined
  /** What this publisher itself said last. */
  said(topic: TopicName, key: string, publisher: string): string | undefined
  keys(topic: TopicName): Iterable<string>
}

interface Entry {
  readonly incarnation: number
  /** Publisher to canonical text, in the order of their puts: the last one counts. */
  readonly versions: Map<string, string>
}

export function openPublished(onChange: (topic: TopicName, key: string) => void): Published {
  const topics = new Map<TopicName, Map<string, Entry>>()
  let incarnations = 0

  const entriesOf = (topic: TopicName) => {
    const entries = topics.get(topic) ?? new Map<string, Entry>()
    topics.set(topic, entries)
    return entries
  }

  return {
    put: (topic, key, { publisher, text }) => {
      const entries = entriesOf(topic)
      const entry = entries.get(key)
      if (!entry) entries.set(key, { incarnation: ++incarnations, versions: new Map([[publisher, text]]) })
      const before = entry && latest(entry)
      entry?.versions.delete(publisher)
      entry?.versions.set(publisher, text)
      if (before !== text) onChange(topic, key)
    },
    retract: (topic, key, publisher) => {
      const entries = entriesOf(topic)
      const entry = entries.get(key)
      if (!entry?.versions.has(publisher)) return
      const before = latest(entry)
      entry.versions.delete(publisher)
      if (entry.versions.size === 0) entries.delete(key)
      if (entry.versions.size === 0 || latest(entry) !== before) onChange(topic, key)
    },
    get: (topic, key) => {
      const entry = topics.get(topic)?.get(key)
      return entry && { text: latest(entry), incarnation: entry.incarnation }
    },
    said: (topic, key, publisher) => topics.get(topic)?.get(key)?.versions.get(publisher),
    keys: topic => topics.get(topic)?.keys() ?? [],
  }
}

const latest = ({ versions }: Entry): string => [...versions.values()].at(-1)!

/** What schema-checked values have in common: they are JSON without fractions. */
export const canonical = (value: unknown): string => canonicalJson(value as Json)
