// What is said on a channel. A put or a retraction names its topic and key, so that a repeated one does no harm; everything
// else that is repeated says the same again.
import * as z from 'zod'
import { CairnError } from '../../lib/errors.ts'
import type { ProblemCode } from '../../lib/problem.ts'
import { type TopicName, topics } from '../topics.ts'
import { maxFrame } from './link.ts'

export const protocol = 1

/** The longest canonical text of a value; the rest of a frame is for what stands around it. */
export const maxValue = maxFrame - 8 * 1024
export const maxKey = 512

const topic = z.string().max(64)
const key = z.string().max(maxKey)
const number = z.number().int().min(0)
const code = z.templateLiteral([z.string(), '.', z.string()])
const text = z.string().max(4000)

/** From a peer to the hub. */
export const toHubSchema = z.discriminatedUnion('do', [
  /** A peer that comes back says the session it had; the values of that session are its own again. */
  z.strictObject({ do: z.literal('hello'), protocol: number, session: z.string().min(1).max(64) }),
  /** With `keep` it is answered by `done` or `refused`, naming `n`. */
  z.strictObject({
    do: z.literal('put'),
    topic,
    key,
    value: z.unknown(),
    keep: z.strictObject({ n: number }).optional(),
  }),
  /** Answered likewise where the topic may be kept. */
  z.strictObject({ do: z.literal('retract'), topic, key, n: number }),
  z.strictObject({ do: z.literal('complete'), topic }),
  /** All that was said in this session before is said again; the hub forgets the rest. */
  z.strictObject({ do: z.literal('resaid') }),
  z.strictObject({ do: z.literal('call'), id: number, name: z.string().max(64), args: z.unknown() }),
  z.strictObject({ do: z.literal('beat') }),
])
export type ToHub = z.infer<typeof toHubSchema>

const knownTopic = z.enum(Object.keys(topics) as [TopicName, ...TopicName[]])

/** From the hub to a peer. */
export const toPeerSchema = z.discriminatedUnion('do', [
  /** A snapshot follows. Incarnations of two hubs cannot be compared. */
  z.strictObject({ do: z.literal('hello'), hub: z.string() }),
  /** Another incarnation than the one before: in between the key was gone. */
  z.strictObject({ do: z.literal('put'), topic: knownTopic, key, value: z.unknown(), incarnation: number }),
  z.strictObject({ do: z.literal('gone'), topic: knownTopic, key }),
  z.strictObject({ do: z.literal('complete'), topic: knownTopic }),
  /** The snapshot is over: what was not in it is gone. */
  z.strictObject({ do: z.literal('listed') }),
  z.strictObject({ do: z.literal('done'), topic: knownTopic, key, n: number }),
  z.strictObject({ do: z.literal('refused'), topic: knownTopic, key, code, text }),
  z.strictObject({ do: z.literal('answer'), id: number, value: z.unknown().optional() }),
  z.strictObject({ do: z.literal('failed'), id: number, code, text }),
  /** The last frame before the hub closes the channel. */
  z.strictObject({ do: z.literal('fault'), code, text }),
])
export type ToPeer = z.infer<typeof toPeerSchema>

/** Why a channel was closed, or a put or call refused. */
export interface Fault {
  readonly code: ProblemCode
  readonly text: string
}

export const encode = (message: ToHub | ToPeer): Buffer => Buffer.from(JSON.stringify(message))

/** The value is spliced in as the canonical text that is at hand anyway. */
export const encodePut = (
  frame: Omit<ToHub & { do: 'put' }, 'value'> | Omit<ToPeer & { do: 'put' }, 'value'>,
  value: string,
) => Buffer.from(`${JSON.stringify(frame).slice(0, -1)},"value":${value}}`)

const utf8 = new TextDecoder('utf-8', { fatal: true })

export function decode<Message>(schema: z.ZodType<Message>, frame: Uint8Array): Message {
  let value: unknown
  try {
    value = JSON.parse(utf8.decode(frame))
  } catch {
    // Without its cause, which would quote the text.
    throw new CairnError('frame.invalid', 'the frame is not JSON in UTF-8')
  }
  const message = schema.safeParse(value)
  if (!message.success) throw new CairnError('frame.invalid', `the message is unknown: ${issuesOf(message.error)}`)
  return message.data
}

/** Where and what, never the value itself: it may hold a secret. */
export const issuesOf = ({ issues }: z.ZodError): string =>
  issues
    .slice(0, 5)
    .map(({ path, message }) => `${path.join('.') || 'the whole'}: ${message}`)
    .join('; ')
    .slice(0, 1000)
