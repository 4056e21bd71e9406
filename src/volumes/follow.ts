// Follows a volume from the wish to the file: its content on the way, then the volume itself.
import { ContentFailure, failIfDegraded, failIfHopeless, followSize } from '../content/ask.ts'
import type { VolumeStatus } from '../content/messages.ts'
import type { ContentAccess } from '../content/node.ts'
import { waitFor } from '../content/pubsub/wait-for.ts'

export async function followVolume(access: ContentAccess, key: string): Promise<VolumeStatus> {
  const { peer, signal, progress, clock } = access
  const task = progress.begin(peer.all('volumeConfig').get(key)?.displayName ?? key)
  const show = followSize(task)
  try {
    const status = await waitFor(peer, signal, () => {
      failIfDegraded(peer)
      const found = peer.all('volumeStatus').get(key)
      if (!found) return undefined
      if (found.content) show(found.content)
      failIfHopeless(
        { waitingForCerts: false, name: found.displayName, error: found.error, ...found.content },
        clock.now(),
      )
      if (found.error) if (found.content) failIfHopeless(found.content, clock.now())
      failIfHopeless({ ...found, name: found.displayName }, clock.now())
      return found.state === 'created' ? found : undefined
    })
    task.done()
    return status
  } catch (error) {
    task.fail(error instanceof ContentFailure ? error.message : 'stopped')
    throw error
  }
}
