// Lends a runner to other processes of the same user over a socket below its root, so that `cairn node … --root` in another
// terminal acts on what runs here. A client that goes away does not stop what it has begun.
import { createServer, type Socket } from 'node:net'
import { removeIfThere } from '../../../lib/durable.ts'
import { messageOf, unreachable } from '../../../lib/errors.ts'
import { type Files, realFiles } from '../../../lib/files.ts'
import type { Systemd } from '../systemd.ts'
import { readLines } from './lines.ts'
import { placeOf } from './place.ts'
import { type Reply, type Request, requestSchema } from './protocol.ts'
import { shortPath } from './socket-path.ts'

export interface RunnerServer {
  /** No new requests, no socket; those under way are cut off. */
  close(): Promise<void>
}

/** Only for who holds the runner of this root: a socket that is there is a dead one's. */
export async function serveRunner(
  runner: Systemd,
  { root, files = realFiles }: { root: string; files?: Files },
): Promise<RunnerServer> {
  const { socket } = placeOf(root)
  removeIfThere(files, socket)
  const clients = new Set<Socket>()
  const server = createServer(client => {
    clients.add(client)
    client.on('close', () => clients.delete(client))
    // A client that went away has no use for an answer.
    client.on('error', () => {})
    readLines(client, line => void answer(runner, line).then(reply => client.write(`${JSON.stringify(reply)}\n`)))
  })
  // Held until the end: Node removes the socket by this very path.
  const short = shortPath(socket)
  try {
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(short.path, resolve))
    files.chmod(socket, 0o600)
  } catch (error) {
    short.release()
    throw error
  }
  return {
    close: async () => {
      for (const client of clients) client.destroy()
      await new Promise(done => server.close(done))
      short.release()
    },
  }
}

async function answer(runner: Systemd, line: string): Promise<Reply> {
  let id: number | null = null
  try {
    const value: unknown = JSON.parse(line)
    if (typeof value === 'object' && value && 'id' in value && typeof value.id === 'number') id = value.id
    const request = requestSchema.parse(value)
    return { id: request.id, result: (await carryOut(runner, request)) ?? null }
  } catch (error) {
    return { id, error: messageOf(error) }
  }
}

async function carryOut(runner: Systemd, request: Request): Promise<unknown> {
  switch (request.call) {
    case 'show':
      return [...(await runner.show(request.units)).values()]
    case 'active':
      return runner.active()
    case 'daemonReload':
      return runner.daemonReload()
    case 'resetFailed':
      return runner.resetFailed(request.units)
    case 'run':
      return runner.run(request.jobs)
    case 'runLater':
      return runner.runLater(request)
    case 'cancelLater':
      return runner.cancelLater(request.unit)
    case 'lastLines':
      return runner.lastLines(request.unit, request.count)
    default:
      return unreachable(request)
  }
}
