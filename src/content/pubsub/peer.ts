// One side of a channel to the hub: what this process says, and a mirror of what the others say. Level-triggered: a change
// only says "look again"; decisions read the mirror, so that lost, repeated and reordered deltas do no harm.
import type { Message, TopicName } from '../topics.ts'

export interface Change {
  readonly topic: TopicName
  readonly key: string
}

export interface Peer {
  /** An equal value is no message. `keep` asks the hub to have it on disk from then on (topics that may be kept). */
  publish<T extends TopicName>(topic: T, key: string, value: Message<T>, options?: { readonly keep?: boolean }): void
  retract(topic: TopicName, key: string): void
  /** "The set you now hold is complete": from here on subscribers may conclude from what is not there. */
  complete(topic: TopicName): void

  /** What is published by others now; the map stays the same object and is changed in place. */
  all<T extends TopicName>(topic: T): ReadonlyMap<string, Message<T>>
  /** True when all who publish this topic have said that their set is complete. */
  isComplete(topic: TopicName): boolean
  /** Called after the mirror has changed, one call for a batch of changes; an empty batch says that a topic became complete. Returns what ends it. */
  onChange(listener: (changes: readonly Change[]) => void): () => void
  /** The channel is gone. */
  onClose(listener: () => void): void
  close(): void
}
