// One connection to the system bus. A refusal of the other side is an answer; a bus that is gone or silent is an error,
// for every call under way: nothing waits for ever.
import type { EventEmitter } from 'node:events'
import { CairnError, messageOf } from '../../lib/errors.ts'

export interface Bus {
  /** Messages leave in the order of the calls. */
  call(method: Method): Promise<Answer>
  /** Hands over every signal that this connection gets; returns how to end that. */
  listen(listener: (signal: Signal) => void): () => void
  /** Settles, with the error, when the connection is lost. */
  readonly lost: Promise<never>
  close(): void
}

interface Method {
  readonly destination: string
  readonly path: string
  readonly interface: string
  readonly member: string
  readonly signature?: string
  readonly body?: unknown[]
  /** For methods that may keep the other side busy. */
  readonly timeoutMs?: number
}

export type Answer =
  | { readonly refused: false; readonly body: readonly unknown[]; readonly sender: string }
  | { readonly refused: true; readonly reason: string }

interface Signal {
  readonly sender: string
  readonly member: string
  readonly body: readonly unknown[]
}

const connectMs = 10_000
const answerMs = 90_000
/** dbus-daemon cuts off a caller who has more than 128 answers outstanding. */
const callsAtOnce = 100

export async function connectBus(address: string): Promise<Bus> {
  const { DBusError, Message, MessageType, sessionBus } = await import('@jellybrick/dbus-next')
  // The library's only function that takes an address; nothing about it is particular to sessions.
  const bus = sessionBus({ busAddress: address })
  const { promise: lost, reject } = Promise.withResolvers<never>()
  lost.catch(() => {})
  bus.on('error', (cause: unknown) => reject(busLost(messageOf(cause), cause)))
  // The library knows when its connection ends but tells nobody, and would leave every call unanswered.
  const { _connection } = bus as unknown as { readonly _connection: EventEmitter }
  _connection.once('end', () => reject(busLost('the bus closed it')))
  const connected = new Promise<void>(resolve => bus.once('connect', resolve))
  try {
    await within(connectMs, Promise.race([connected, lost]), 'connecting')
  } catch (error) {
    bus.disconnect()
    throw error
  }

  const enter = atMost(callsAtOnce)

  return {
    lost,
    call: async ({ timeoutMs = answerMs, ...method }) => {
      const leave = await enter()
      try {
        const reply = bus.call(new Message(method))
        const { body, sender } = (await within(timeoutMs, Promise.race([reply, lost]), method.member))!
        return { refused: false, body, sender }
      } catch (error) {
        if (error instanceof DBusError) return { refused: true, reason: error.text || error.type }
        throw error
      } finally {
        leave()
      }
    },
    listen: listener => {
      const onMessage = (message: InstanceType<typeof Message>) => {
        if (message.type === MessageType.SIGNAL) listener(message)
      }
      bus.on('message', onMessage)
      return () => bus.off('message', onMessage)
    },
    close: () => {
      reject(busLost('it was closed here'))
      bus.disconnect()
    },
  }
}

async function within<T>(ms: number, work: Promise<T>, doing: string): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(busLost(`no answer to ${doing} within ${ms / 1000} s`)), ms)
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

/** First come, first served. */
function atMost(limit: number): () => Promise<() => void> {
  const waiting: (() => void)[] = []
  let inside = 0
  const leave = () => {
    const next = waiting.shift()
    if (next) next()
    else inside -= 1
  }
  return async () => {
    if (inside < limit) inside += 1
    else await new Promise<void>(resolve => waiting.push(resolve))
    return leave
  }
}

const busLost = (why: string, cause?: unknown) =>
  new CairnError('systemd.unavailable', `the connection to the system bus is lost: ${why}`, { cause })
