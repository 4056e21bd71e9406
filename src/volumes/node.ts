// Everything that can be asked about volumes on one machine, one function a command; `cli/` and `agent/` know this file only.

import { failIfDegraded, failIfHopeless } from '../content/ask.ts'
import type { VolumeConfig, VolumeStatus } from '../content/messages.ts'
import { type ContentAccess, type ContentOptions, hasSecret, withContent, withoutSecret } from '../content/node.ts'
import { waitFor } from '../content/pubsub/wait-for.ts'
import { reached } from '../content/state.ts'
import { ProblemsError, RefusedError } from '../lib/errors.ts'
import { printSize } from '../lib/size.ts'
import { followVolume } from './follow.ts'
import { volumeKey } from './names.ts'
import { type VolumeRequest, volumeConfigOf } from './request.ts'

/** Owner of what a person makes on the machine itself. */
const owner = 'local'
const scope = 'volumes'

/** Kept until it is removed. What could not be made is not asked for any longer. */
export const createVolume = (request: VolumeRequest, options: ContentOptions): Promise<VolumeStatus> =>
  withContent(options, async access => {
    const config = volumeConfigOf(request, { owner, scope })
    if ('problems' in config) throw new ProblemsError(config.problems)
    const there = (await volumes(access)).find(({ id, owner: its }) => id === config.id && its === owner)
    if (there && there.scope !== 'unknown')
      throw new RefusedError('volume.exists', `There is a volume ${config.id} already.`, {
        hint: `cairn volume purge ${config.id} makes it anew; cairn volume rm ${config.id} takes it away.`,
      })
    return make(access, config)
  })

export const listVolumes = (options: ContentOptions): Promise<VolumeStatus[]> => withContent(options, volumes)

export const showVolume = (id: string, options: ContentOptions): Promise<VolumeStatus> =>
  withContent(options, async access => named(await volumes(access), id))

/** A new generation from the same content; the old one goes when the new one is there. */
export const purgeVolume = (id: string, options: ContentOptions): Promise<VolumeStatus> =>
  withContent(options, async access => {
    const old = configNamed(access, named(await volumes(access), id))
    const made = await make(access, { ...old, generation: old.generation + 1 })
    await remove(access, keyOf(old))
    return made
  })

/** Its data is gone after this. */
export const removeVolume = (id: string, options: ContentOptions & { allowDataLoss: boolean }): Promise<VolumeStatus> =>
  withContent(options, async access => {
    const status = named(await volumes(access), id)
    if (!status.readOnly && reached(status.state, 'created') && !options.allowDataLoss) throw dataLoss(status)
    await remove(access, keyOf(status))
    return status
  })

/** What is secret in the config is kept nowhere; once the volume is there, it needs no more than its digest. */
async function make(access: ContentAccess, config: VolumeConfig): Promise<VolumeStatus> {
  const { peer } = access
  const { content } = config
  const key = keyOf(config)
  const isSecret = content !== undefined && hasSecret(content)
  peer.publish('volumeConfig', key, config, { keep: !isSecret })
  try {
    const status = await followVolume(access, key)
    if (isSecret) {
      const shown = { ...config, content: withoutSecret(content, status.content ?? content) }
      peer.publish('volumeConfig', key, shown, { keep: true })
    }
    return status
  } catch (error) {
    peer.retract('volumeConfig', key)
    throw error
  }
}

async function remove({ peer, signal, clock }: ContentAccess, key: string) {
  const asked = clock.now().toISOString()
  peer.retract('volumeConfig', key)
  await waitFor(peer, signal, () => {
    const status = peer.all('volumeStatus').get(key)
    // What failed before is no matter any more.
    if (status?.error && status.error.since >= asked)
      failIfHopeless({ ...status, name: status.displayName }, clock.now())
    return status ? undefined : true
  })
}

async function volumes({ peer, signal }: ContentAccess): Promise<VolumeStatus[]> {
  await waitFor(peer, signal, () => {
    failIfDegraded(peer)
    return peer.isComplete('volumeStatus') ? true : undefined
  })
  return [...peer.all('volumeStatus').values()]
}

function named(all: readonly VolumeStatus[], id: string): VolumeStatus {
  const found = all.find(volume => volume.id === id && volume.owner === owner && volume.scope === scope)
  if (found) return found
  throw new RefusedError('volume.unknown', `There is no volume ${id}.`, {
    hint: 'cairn volume list shows what there is.',
  })
}

function configNamed({ peer }: ContentAccess, status: VolumeStatus): VolumeConfig {
  const config = peer.all('volumeConfig').get(keyOf(status))
  if (config) return config
  throw new RefusedError('volume.unknown', `Nobody asks for the volume ${status.id} any longer.`)
}

const dataLoss = ({ id, usedSize }: VolumeStatus) =>
  new RefusedError('volume.data-loss', `${printSize(usedSize)} on the volume ${id} would be lost.`, {
    hint: 'Say --allow-data-loss if that is meant.',
  })

const keyOf = (volume: Pick<VolumeConfig, 'scope' | 'origin' | 'owner' | 'id' | 'generation'>): string =>
  `${volume.scope}/${volumeKey(volume)}`
