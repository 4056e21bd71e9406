// Says something to the others if it is not what was said last: a second run of the switchboard publishes nothing.
import type { Message } from '../../content/topics.ts'
import type { OwnTopic, Turn } from './model.ts'
import type { Put } from './protocol.ts'

export const published = <T extends OwnTopic>(turn: Turn, topic: T, key: string): Message<T> | undefined =>
  turn.state.published[topic].get(key) as Message<T> | undefined

export function publish<T extends OwnTopic>(turn: Turn, topic: T, key: string, value: Message<T>) {
  const said: Map<string, unknown> = turn.state.published[topic]
  if (same(said.get(key), value)) return
  said.set(key, value)
  turn.effects.push({ do: 'publish', topic, key, value } as { do: 'publish' } & Put)
}

export function retract(turn: Turn, topic: OwnTopic, key: string) {
  if (turn.state.published[topic].delete(key)) turn.effects.push({ do: 'retract', topic, key })
}

/** Equal as messages: a key that is undefined is one that is not there. Parts that are the same object cost nothing. */
export function same(one: unknown, other: unknown): boolean {
  if (one === other) return true
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false
  if (Array.isArray(one))
    return Array.isArray(other) && one.length === other.length && one.every((item, index) => same(item, other[index]))
  const a = one as Record<string, unknown>
  const b = other as Record<string, unknown>
  for (const key in a) if (!same(a[key], b[key])) return false
  for (const key in b) if (b[key] !== undefined && a[key] === undefined) return false
  return true
}
