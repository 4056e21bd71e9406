// Names that are made by hashing what they stand for: the same request gives the same name after a restart, so that what
// was fetched, latched or asked before is found again.
import { join } from 'node:path'
import type { ContentRef, ResolveConfig, VolumeConfig } from '../../content/messages.ts'
import type { Source } from '../../content/source.ts'
import { canonicalJson, sha256Hex } from '../../lib/json.ts'

const hashOf = (value: Parameters<typeof canonicalJson>[0]): string => sha256Hex(canonicalJson(value))

/** A tree of blobs, where the others are a single file. */
export const isImage = ({ sources }: Pick<ContentRef, 'sources'>): boolean => isImageSource(sources[0]!)

const isImageSource = ({ kind }: Source): boolean => kind === 'registry' || kind === 'oci-layout'

/** Of the kind of the first: a file cannot be had from a registry by the digest of an image, nor the other way round. */
export const sourcesOf = (ref: Pick<ContentRef, 'sources'>): readonly Source[] =>
  ref.sources.filter(source => isImageSource(source) === isImage(ref))

/** Of a download whose digest nobody has named. */
export const urlKeyOf = (ref: ContentRef): string => `url-${hashOf({ sources: sourcesOf(ref), size: ref.size })}`

/** Other places or another size make another file: nothing is resumed that was something else. */
export const targetOf = (
  pending: string,
  key: string,
  { sources, size }: { sources: readonly Source[]; size: number },
) => join(pending, `${hashOf({ sources, size })}.${key.replace(/^url-/, '')}`)

export const resolveKeyOf = (source: Source, what: ResolveConfig['what']): string => hashOf({ source, what })

/** `generation` is that of a volume, which begins anew with each; requests for content alone share what they latched. */
export const latchKeyOf = (ref: ContentRef, generation: string): string =>
  hashOf({ source: ref.sources[0]!, name: ref.name, tag: ref.tag, generation })

export const signatureLatchKeyOf = (source: Source, root: string): string => hashOf({ source, signaturesOf: root })

/** What a volume is on this machine, whoever asks for it. */
export const identityOf = ({
  origin,
  owner,
  id,
  generation,
}: Pick<VolumeConfig, 'origin' | 'owner' | 'id' | 'generation'>) => `${origin}:${owner}:${id}#${generation}`

export const volumeTreeKey = (identity: string): string => `volume:${identity}`
export const certTreeKey = (id: string): string => `cert:${id}`
