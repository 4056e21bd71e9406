// A peer that says whatever it likes on a socket of the hub: frames that are none, messages that do not exist, values that
// are not its own to publish.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { until } from './faults-machine.ts'

export interface ForgingPeer {
  /** As bytes, with a length in front that is theirs unless another one is given. */
  send(frame: unknown, length?: number): void
  /** What the hub says, one message at a time. */
  readonly heard: readonly Heard[]
  /** The last message of the hub, when it has closed the channel. */
  closed(): Promise<Heard>
  close(): void
}

export interface Heard {
  readonly do: string
  readonly topic?: string
  readonly key?: string
  readonly code?: string
}

export async function forgingPeer(run: string, name: 'agent.sock' | 'status.sock'): Promise<ForgingPeer> {
  const socket: Socket = connect(join(run, name))
  await once(socket, 'connect')
  // What is still on its way when the hub closes is nobody's loss.
  socket.on('error', () => {})
  const heard: Heard[] = []
  let rest: Buffer = Buffer.alloc(0)
  socket.on('data', (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk])
    while (rest.length >= 4 && rest.length >= 4 + rest.readUInt32BE()) {
      const end = 4 + rest.readUInt32BE()
      heard.push(JSON.parse(rest.subarray(4, end).toString()))
      rest = rest.subarray(end)
    }
  })
  return {
    heard,
    closed: async () => {
      await until('the hub has closed the channel', () => socket.closed, 20_000)
      return heard.at(-1)!
    },
    send(frame, length) {
      const bytes = Buffer.isBuffer(frame) ? frame : Buffer.from(JSON.stringify(frame))
      const header = Buffer.alloc(4)
      header.writeUInt32BE(length ?? bytes.length)
      socket.write(Buffer.concat([header, bytes]))
    },
    close: () => socket.destroy(),
  }
}

export const hello = { do: 'hello', protocol: 1, session: 'a forger' }
