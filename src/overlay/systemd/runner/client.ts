// The port over a runner's socket. What the other end says is trusted: it is this user's own Cairn, of this version.
import { connect, type Socket } from 'node:net'
import { CairnError, isErrno, messageOf } from '../../../lib/errors.ts'
import type { UnitName } from '../../names.ts'
import type { JobResult, Systemd, UnitStatus } from '../systemd.ts'
import { readLines } from './lines.ts'
import { placeOf } from './place.ts'
import type { Call, Reply } from './protocol.ts'
import { shortPath } from './socket-path.ts'

/** The runner of this root; null when none is there. */
export async function connectRunner(root: string): Promise<Systemd | null> {
  try {
    return overSocket(await open(placeOf(root).socket))
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ENOTDIR', 'ECONNREFUSED')) return null
    throw new CairnError('runner.unreachable', `the runner of ${root} cannot be reached`, {
      hint: 'It belongs to the user who started it; run the command as that user.',
      cause: error,
    })
  }
}

async function open(path: string): Promise<Socket> {
  const short = shortPath(path)
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const socket = connect(short.path, resolve)
  socket.once('error', reject)
  await promise.finally(short.release)
  socket.off('error', reject)
  return socket
}

function overSocket(socket: Socket): Systemd {
  const waiting = new Map<number, PromiseWithResolvers<unknown>>()
  let last = 0
  let lost: CairnError | null = null
  const lose = (why: string) => {
    lost ??= new CairnError('runner.lost', `the connection to the runner is lost: ${why}`)
    for (const { reject } of waiting.values()) reject(lost)
    waiting.clear()
  }
  socket.on('error', error => lose(messageOf(error)))
  socket.on('close', () => lose('it has ended'))
  readLines(socket, line => {
    const reply = JSON.parse(line) as Reply
    const call = reply.id === null ? undefined : waiting.get(reply.id)
    if (reply.id !== null) waiting.delete(reply.id)
    if ('error' in reply) call?.reject(new CairnError('runner.refused', `the runner refuses: ${reply.error}`))
    else call?.resolve(reply.result)
  })

  const ask = async <Result>(call: Call): Promise<Result> => {
    if (lost) throw lost
    const id = ++last
    const answer = Promise.withResolvers<unknown>()
    waiting.set(id, answer)
    socket.write(`${JSON.stringify({ id, ...call })}\n`)
    return (await answer.promise) as Result
  }
  return {
    kind: 'runner',
    show: async units => {
      const statuses = await ask<UnitStatus[]>({ call: 'show', units: [...units] })
      return new Map(statuses.map(status => [status.unit, status]))
    },
    active: () => ask<UnitName[]>({ call: 'active' }),
    daemonReload: async () => void (await ask({ call: 'daemonReload' })),
    resetFailed: async units => void (await ask({ call: 'resetFailed', units: [...units] })),
    run: jobs => ask<JobResult[]>({ call: 'run', jobs: [...jobs] }),
    runLater: async timer => void (await ask({ call: 'runLater', ...timer, command: [...timer.command] })),
    cancelLater: async unit => void (await ask({ call: 'cancelLater', unit })),
    lastLines: (unit, count) => ask<string[]>({ call: 'lastLines', unit, count }),
    close: () => void socket.end(),
  }
}
