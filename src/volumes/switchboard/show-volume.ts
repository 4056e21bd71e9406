// Publishes a volume to each who claims it: the one who leads sees how far it is, the others what they may have of it.
import type { ContentError, VolumeConfig } from '../../content/messages.ts'
import { volumeTreeKey } from './keys.ts'
import type { Turn, Volume } from './model.ts'
import { publish, retract } from './publish.ts'
import { errorOf, joinErrors } from './trouble.ts'
import { claimFailure } from './volume-claims.ts'
import { madeContent, volumeStatus } from './volume-status.ts'

export function showVolume(turn: Turn, volume: Volume, claims: ReadonlyMap<string, VolumeConfig>) {
  const { state } = turn
  const { owner, id } = volume.config
  const isOwn = volume.place !== null && !volume.place.isInPlace
  const content = isOwn ? madeContent(volume) : state.trees.get(volumeTreeKey(volume.identity))?.status
  const localGeneration = state.purges.get(`${owner}+${id}`) ?? 0
  for (const [key, config] of claims) {
    const refusal = refusalOf(turn, volume, key, config)
    const errors = refusal ? [refusal] : [volume.trouble?.error, volume.refusal, isOwn ? null : content?.error]
    const error = joinErrors(errors.filter(one => one != null))
    const seen = refusal ? { ...volume, place: null, state: 'initial' as const } : volume
    publish(
      turn,
      'volumeStatus',
      key,
      volumeStatus(config, seen, { localGeneration, content: refusal ? undefined : content, error }),
    )
    volume.shown.set(key, config)
  }
  for (const key of volume.shown.keys()) {
    if (claims.has(key)) continue
    volume.shown.delete(key)
    volume.claimErrors.delete(key)
    retract(turn, 'volumeStatus', key)
  }
}

function refusalOf(turn: Turn, volume: Volume, key: string, config: VolumeConfig): ContentError | null {
  const failure = key === volume.leader ? null : claimFailure(config, volume.config)
  if (!failure) {
    volume.claimErrors.delete(key)
    return null
  }
  const error = errorOf(turn, failure, volume.claimErrors.get(key))
  volume.claimErrors.set(key, error)
  return error
}
