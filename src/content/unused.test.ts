import { describe, expect, it } from 'vitest'
import type { ContentStatus, Sha256, VerifyStatus, VolumeStatus } from './messages.ts'
import type { Peer } from './pubsub/peer.ts'
import { aVerifyStatus } from './pubsub/pubsub.fake.ts'
import { unusedContent } from './unused.ts'

const [a, b, c, d] = ['a', 'b', 'c', 'd'].map(digit => digit.repeat(64) as Sha256) as [Sha256, Sha256, Sha256, Sha256]

interface Said {
  readonly content?: readonly Sha256[]
  readonly files?: Readonly<Record<string, Partial<VerifyStatus>>>
  readonly volumes?: Readonly<Record<string, Partial<VolumeStatus>>>
}

/** Of the statuses only what is looked at. */
function peerOf({ content = [], files = {}, volumes = {} }: Said): Pick<Peer, 'all'> {
  const topics: Record<string, ReadonlyMap<string, unknown>> = {
    contentStatus: new Map(content.length > 0 ? [['images/x', treeOf(content)]] : []),
    verifyStatus: new Map(Object.entries(files).map(([key, status]) => [key, aVerifyStatus(status)])),
    volumeStatus: new Map(Object.entries(volumes)),
  }
  return { all: topic => topics[topic] as never }
}

const treeOf = (shas: readonly Sha256[]) => ({ blobs: shas.map(sha256 => ({ sha256 })) }) as unknown as ContentStatus

const verified = { state: 'verified', size: 7, mediaType: 'text/plain' } as const

describe('of what lies on a machine', () => {
  it('nothing is unused where there is nothing', () => expect(unusedContent(peerOf({}))).toEqual([]))

  it('verified blobs are unused that neither content nor a volume is made of', () => {
    const volumes = { 'volumes/x': { scope: 'volumes', content: treeOf([b]) } } as const
    const files = { [a]: verified, [b]: verified, [c]: verified, [d]: { state: 'verifying' } } as const
    expect(unusedContent(peerOf({ content: [a], files, volumes }))).toEqual([
      { what: 'blob', key: c, name: 'text/plain', size: 7 },
    ])
  })

  it('volumes are unused that nobody claims, with the time at which they go by themselves', () => {
    const found = { scope: 'unknown', displayName: 'data', usedSize: 5 } as const
    const goesAt = '2026-01-01T00:00:00.000Z'
    const volumes = {
      'volumes/download:local:web#0': { scope: 'volumes', displayName: 'web' },
      'unknown/download:local:data#0': found,
      'unknown/download:local:data#1': { ...found, collectedAt: goesAt },
    } as const
    expect(unusedContent(peerOf({ volumes }))).toEqual([
      { what: 'volume', key: 'unknown/download:local:data#0', name: 'data', size: 5 },
      { what: 'volume', key: 'unknown/download:local:data#1', name: 'data', size: 5, goesAt },
    ])
  })
})
