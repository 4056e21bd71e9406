// What lies on a machine and nobody asks for: verified blobs that no content is made of, volumes that nobody claims.
// Decides from what the processes publish; the manager decides the same when it collects.
import type { Peer } from './pubsub/peer.ts'

export interface Unused {
  readonly what: 'blob' | 'volume'
  /** Of its status: a digest, or a volume key. */
  readonly key: string
  readonly name: string
  readonly size: number
  /** When it would go by itself, where that is known. */
  readonly goesAt?: string
}

export function unusedContent(peer: Pick<Peer, 'all'>): Unused[] {
  const used = new Set<string>()
  for (const { blobs } of peer.all('contentStatus').values()) for (const { sha256 } of blobs) used.add(sha256)
  for (const { content } of peer.all('volumeStatus').values())
    for (const { sha256 } of content?.blobs ?? []) used.add(sha256)
  const blobs = [...peer.all('verifyStatus')]
    .filter(([sha256, { state }]) => state === 'verified' && !used.has(sha256))
    .map(([sha256, { size, mediaType }]): Unused => ({ what: 'blob', key: sha256, name: mediaType ?? '', size }))
  const volumes = [...peer.all('volumeStatus')]
    .filter(([, { scope }]) => scope === 'unknown')
    .map(
      ([key, { displayName, usedSize, collectedAt }]): Unused => ({
        what: 'volume',
        key,
        name: displayName,
        size: usedSize,
        ...(collectedAt && { goesAt: collectedAt }),
      }),
    )
  return [...blobs, ...volumes]
}
