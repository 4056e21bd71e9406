// Asks for content on a channel and waits for it: publish the wish, follow its status, take the wish back in the end.
// Two who want the same at the same time share one wish.
import type { Clock } from '../lib/clock.ts'
import { CairnError } from '../lib/errors.ts'
import type { Task } from '../lib/progress.ts'
import { sharing } from '../lib/shared.ts'
import { contentIdOf } from './content-ref.ts'
import type { ContentDoor, ContentRequest } from './door.ts'
import type { ContentError, ContentStatus } from './messages.ts'
import { nextStep } from './next-step.ts'
import type { Peer } from './pubsub/peer.ts'
import { waitFor } from './pubsub/wait-for.ts'
import { reached } from './state.ts'

/** Why content could not be had. */
export class ContentFailure extends CairnError {
  /** It would be tried again by itself, only not soon. */
  readonly mayPass: boolean
  constructor(code: ContentError['code'], reason: string, retryAt?: Date) {
    const hint = nextStep({ code, ...(retryAt && { retryAt }) })
    super(code, reason, hint === undefined ? {} : { hint })
    this.name = 'ContentFailure'
    this.mayPass = retryAt !== undefined
  }
}

/** Longer than the pauses between quick tries, shorter than those after them. */
const patienceMs = 15_000

/** `newId` tells wishes for the same apart: what is still said of one that was taken back is not taken for the next one's. */
export function doorOn(peer: Peer, { clock, newId }: { clock: Clock; newId: () => string }): ContentDoor {
  /** What is wished for, to the id under which it is. */
  const standing = new Map<string, string>()
  const takeBack = (what: string) => {
    peer.retract('contentConfig', standing.get(what)!)
    standing.delete(what)
  }
  const wishes = sharing<{ what: string; status: ContentStatus }>(({ what }) => takeBack(what))
  return {
    async fetch(request) {
      const { scope, ref } = request
      const what = `${scope}/${contentIdOf(ref)}`
      const lease = await wishes.acquire(what, request.signal, async signal => {
        const key = standing.get(what) ?? `${what}-${newId()}`
        standing.set(what, key)
        peer.publish('contentConfig', key, { scope, id: key.slice(scope.length + 1), ref, until: 'verified' })
        try {
          return { what, status: await followContent(peer, key, { ...request, signal, clock }) }
        } catch (error) {
          // To take it back would throw away what came of it: it goes with the channel, and the next one goes on from there.
          const came = peer.all('contentStatus').get(key)?.currentSize ?? 0
          if (!(error instanceof ContentFailure && error.mayPass && came > 0)) takeBack(what)
          throw error
        }
      })
      return { status: lease.value.status, release: lease.release }
    },
  }
}

export type Following = Pick<ContentRequest, 'progress' | 'label' | 'signal'> & { readonly clock: Clock }

/** Follows what was asked for under a key until all of it is verified. */
export async function followContent(peer: Peer, key: string, following: Following): Promise<ContentStatus> {
  const { progress, label, signal, clock } = following
  const task = progress.begin(label)
  const show = followSize(task)
  try {
    const status = await waitFor(peer, signal, () => {
      failIfDegraded(peer)
      const found = peer.all('contentStatus').get(key)
      if (!found) return undefined
      show(found)
      failIfHopeless(found, clock.now())
      return reached(found.state, 'verified') && found.blobs.every(({ path }) => path !== undefined) ? found : undefined
    })
    task.done()
    return status
  } catch (error) {
    task.fail(error instanceof ContentFailure ? error.message : 'stopped')
    throw error
  }
}

/** Throws when one of the processes ends as soon as it is started: nothing will come of waiting. */
export function failIfDegraded(peer: Peer) {
  const failing = peer
    .all('isolation')
    .values()
    .find(({ health }) => health === 'degraded')
  if (failing)
    throw new CairnError('process.degraded', `the ${failing.process} ends again and again, so nothing goes on`, {
      hint: 'cairn node daemon shows what it says when it ends.',
    })
}

/** Throws when waiting will not help soon. What is tried again within a few seconds is no failure yet. */
export function failIfHopeless(
  { error, waitingForCerts, name }: Partial<Pick<ContentStatus, 'error' | 'waitingForCerts'>> & { name: string },
  now: Date,
) {
  if (waitingForCerts)
    throw new ContentFailure('signature.waiting', `the signature of ${name} needs a certificate that is not there yet`)
  if (!error) return
  const retryAt = error.retryAt === undefined ? undefined : new Date(error.retryAt)
  if (retryAt && retryAt.getTime() - now.getTime() <= patienceMs) return
  throw new ContentFailure(error.code, error.text, retryAt)
}

/** Moves a bar as the sizes of a status move. */
export function followSize(task: Task): (status: Pick<ContentStatus, 'currentSize' | 'totalSize'>) => void {
  let shown = 0
  return ({ currentSize, totalSize }) => {
    if (totalSize > 0) task.expect(totalSize)
    task.advance(currentSize - shown)
    shown = currentSize
  }
}
