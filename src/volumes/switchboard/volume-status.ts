// Volumes as others see them: one status for each claim, and one in scope `unknown` for what was found and nobody claimed.
import type { ContentError, ContentStatus, VolumeConfig, VolumeStatus } from '../../content/messages.ts'
import type { Found, Volume } from './model.ts'
import type { FoundVolume } from './protocol.ts'

export interface VolumeView {
  readonly localGeneration: number
  readonly content: ContentStatus | undefined
  readonly error: ContentError | undefined
}

export function volumeStatus(
  config: VolumeConfig,
  volume: Pick<Volume, 'place' | 'state'>,
  { localGeneration, content, error }: VolumeView,
): VolumeStatus {
  const { place, state } = volume
  return {
    scope: config.scope,
    displayName: config.displayName,
    owner: config.owner,
    id: config.id,
    generation: config.generation,
    localGeneration,
    origin: config.origin,
    kind: config.kind,
    format: config.format,
    readOnly: config.readOnly,
    maxSize: config.maxSize,
    state,
    ...(content && { content }),
    ...(place && { path: place.path }),
    usedSize: place?.usedSize ?? 0,
    ...(place?.lastUse && { lastUse: place.lastUse }),
    preReboot: place?.preReboot ?? false,
    ...(error && { error }),
  }
}

/** What a made volume tells of its content: the blobs are not held any more. */
export function madeContent({ config, identity, place }: Volume): ContentStatus | undefined {
  if (config.origin !== 'download' || !config.content) return undefined
  const { sha256 } = place!.record
  return {
    scope: config.scope,
    id: identity,
    name: config.content.name,
    state: 'verified',
    ...(sha256 && { sha256 }),
    blobs: [],
    totalSize: 0,
    currentSize: 0,
    waitingForCerts: false,
  }
}

export const foundKey = ({ parsed, record }: FoundVolume): string =>
  `unknown/${record?.origin ?? 'download'}:${parsed.owner}:${'form' in parsed ? parsed.sha256 : parsed.id}#${parsed.generation}`

export function foundStatus({ volume, deadline, trouble, isHeld }: Found): VolumeStatus {
  const { parsed, record, isDirectory, name, path, usedSize, lastUse, preReboot } = volume
  return {
    scope: 'unknown',
    displayName: record?.displayName ?? name,
    owner: parsed.owner,
    id: 'form' in parsed ? parsed.sha256 : parsed.id,
    generation: parsed.generation,
    localGeneration: 0,
    origin: record?.origin ?? 'download',
    kind: record?.kind ?? (isDirectory ? 'container' : 'disk'),
    format: parsed.format ?? record?.format ?? 'raw',
    readOnly: record?.readOnly ?? false,
    maxSize: record?.size ?? 0,
    state: 'created',
    path,
    usedSize,
    lastUse,
    preReboot,
    ...(deadline && !isHeld && { collectedAt: new Date(deadline.wall).toISOString() }),
    ...(trouble && { error: trouble.error }),
  }
}
