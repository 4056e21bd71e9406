// Speaks gRPC with containerd over sockets that are handed to this process, since it may open none itself. One connection
// at a time; when it is lost, the next call asks for another one.
import { connect as connectHttp2 } from 'node:http2'
import type { Socket } from 'node:net'
import { type Client, Code, ConnectError, createClient, type Interceptor } from '@connectrpc/connect'
import { createGrpcTransport } from '@connectrpc/connect-node'
import { CairnError } from '../../../lib/errors.ts'
import { redact } from '../../../lib/redact.ts'
import { Content } from './generated/services/content/v1/content_pb.js'
import { Diff } from './generated/services/diff/v1/diff_pb.js'
import { Images } from './generated/services/images/v1/images_pb.js'
import { Leases } from './generated/services/leases/v1/leases_pb.js'
import { Snapshots } from './generated/services/snapshots/v1/snapshots_pb.js'

export interface Containerd {
  readonly content: Client<typeof Content>
  readonly diff: Client<typeof Diff>
  readonly images: Client<typeof Images>
  readonly leases: Client<typeof Leases>
  readonly snapshots: Client<typeof Snapshots>
}

export interface Connection {
  /**
   * Does `work` with a live connection. What containerd refuses is told as runtime.failed, a lost or missing connection as
   * runtime.unavailable, an abort as the reason of the signal.
   */
  use<T>(doing: string, work: (containerd: Containerd) => Promise<T>, signal?: AbortSignal): Promise<T>
  close(): void
}

/** Everything that Cairn has in containerd is in this namespace, and nothing else is touched. */
const namespace = 'cairn'
/** A call that changes or asks a record. Those that move bytes set no limit. */
const recordTimeoutMs = 60_000
/** As a call option: however long it takes. */
export const noTimeout = { timeoutMs: 0 }

interface Live {
  readonly socket: Socket
  readonly containerd: Containerd
}

export function connection(connect: () => Promise<Socket | null>): Connection {
  let current: Promise<Live> | null = null

  const live = async (): Promise<Live> => {
    if (current) {
      const before = current
      const found = await before.catch(() => null)
      if (found && !found.socket.destroyed) return found
      // Only the first of those who saw the loss; the others find what it has begun.
      if (current === before) current = null
    }
    current ??= begin(connect)
    return current
  }

  return {
    async use(doing, work, signal) {
      const { socket, containerd } = await live()
      try {
        return await work(containerd)
      } catch (error) {
        throw signal?.aborted ? signal.reason : told(doing, error, socket)
      }
    },
    close() {
      current?.then(
        ({ socket }) => socket.destroy(),
        () => {},
      )
      current = null
    },
  }
}

async function begin(connect: () => Promise<Socket | null>): Promise<Live> {
  const socket = await connect()
  if (!socket) throw unavailable('the machine has no containerd that answers')
  const baseUrl = 'http://containerd'
  // It may come paused, so that nobody else has read from it.
  socket.read(0)
  const session = connectHttp2(baseUrl, { createConnection: () => socket })
  // Each call under way is told as well.
  session.on('error', () => {})
  const transport = createGrpcTransport({
    baseUrl,
    // One session on one socket, instead of one that would be opened anew on a socket that is dead.
    sessionManager: {
      authority: baseUrl,
      request: async (method, path, headers, options) => {
        if (session.closed || session.destroyed) throw new ConnectError('the connection is lost', Code.Unavailable)
        return session.request({ ...headers, ':method': method, ':path': path }, options)
      },
      notifyResponseByteRead() {},
    },
    interceptors: [inNamespace],
    acceptCompression: [],
    defaultTimeoutMs: recordTimeoutMs,
  })
  return {
    socket,
    containerd: {
      content: createClient(Content, transport),
      diff: createClient(Diff, transport),
      images: createClient(Images, transport),
      leases: createClient(Leases, transport),
      snapshots: createClient(Snapshots, transport),
    },
  }
}

const inNamespace: Interceptor = next => request => {
  request.header.set('containerd-namespace', namespace)
  return next(request)
}

function told(doing: string, error: unknown, socket: Socket): unknown {
  if (!(error instanceof ConnectError)) return error
  const message = redact(error.rawMessage)
  // A lost connection ends calls with one of several codes; the socket knows better.
  if (socket.destroyed || error.code === Code.Unavailable || error.code === Code.DeadlineExceeded)
    return unavailable(`containerd went away while ${doing}: ${message}`, error)
  return new CairnError('runtime.failed', `containerd failed at ${doing}: ${message}`, { cause: error })
}

const unavailable = (message: string, cause?: unknown) =>
  new CairnError('runtime.unavailable', message, {
    hint: 'It is tried again by itself. Is containerd running?',
    ...(cause !== undefined && { cause }),
  })

/** Undefined instead of the error that says so. */
export async function unless<T>(code: Code, call: Promise<T>): Promise<T | undefined> {
  try {
    return await call
  } catch (error) {
    if (error instanceof ConnectError && error.code === code) return undefined
    throw error
  }
}
