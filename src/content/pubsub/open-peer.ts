// The other end of a hub's channel: says and hears over one link, and is closed with it.
import { createPeer, type HubPeer } from './create-peer.ts'
import type { Link } from './link.ts'
import type { Fault } from './wire.ts'

export interface OpenedPeer extends HubPeer {
  /** The hub has said all that is there; rejects when the link closes before. */
  readonly listed: Promise<void>
}

/** `onFault` hears why the hub closed the channel, or did not take or keep a value. */
export function openPeer(link: Link, onFault?: (fault: Fault) => void): OpenedPeer {
  const detached = createPeer({
    detached: fault => {
      if (fault) onFault?.(fault)
      detached.close()
    },
    ...(onFault && { refused: onFault }),
  })
  return { ...detached.peer, listed: detached.attach(link) }
}
