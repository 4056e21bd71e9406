// Reaches the supervisor that runs on this machine, if one does.
import { open } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { isErrno, RefusedError } from '../../lib/errors.ts'
import type { ContentLayout } from '../layout.ts'
import type { Link } from '../pubsub/link.ts'
import { openPeer } from '../pubsub/open-peer.ts'
import type { Peer } from '../pubsub/peer.ts'
import { socketLink } from '../pubsub/socket-link.ts'
import { directoryFlags, placeIn } from './open-below.ts'
import { type SocketRole, socketNames } from './sockets.ts'

/** Null when nobody listens. The peer has the whole state when it resolves, and is closed with the supervisor. */
export async function connectTo(layout: ContentLayout, role: 'requester' | 'watcher'): Promise<Peer | null> {
  const link = await dial(layout, role)
  if (!link) return null
  const peer = openPeer(link)
  await peer.listed
  return peer
}

export async function dial(layout: ContentLayout, role: 'requester' | 'watcher'): Promise<Link | null> {
  const socket = await dialSocket(layout, role)
  return socket && socketLink(socket)
}

export async function dialSocket({ run }: ContentLayout, role: SocketRole): Promise<Socket | null> {
  const directory = await open(run, directoryFlags).catch(error => orNull(error))
  if (!directory) return null
  try {
    return await new Promise<Socket>((done, reject) => {
      const socket = connect({ path: placeIn(directory, socketNames[role]) })
      socket.once('connect', () => done(socket))
      socket.once('error', reject)
    })
  } catch (error) {
    return orNull(error)
  } finally {
    await directory.close()
  }
}

function orNull(cause: unknown): null {
  if (isErrno(cause, 'ENOENT', 'ECONNREFUSED')) return null
  if (!isErrno(cause, 'EACCES', 'EPERM')) throw cause
  const hint = 'Run as the user that the supervisor runs as (usually root), or use a store of your own with --root DIR.'
  throw new RefusedError('supervisor.denied', 'the supervisor of this machine does not let this user in', {
    hint,
    cause,
  })
}
