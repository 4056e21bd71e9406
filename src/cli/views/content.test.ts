// The screens of content and volumes as a whole; the golden files are what a person sees.
import { describe, expect, it } from 'vitest'
import type { BlobStatus, ContentStatus, Isolation, Sha256, VolumeStatus } from '../../content/messages.ts'
import { aStyle } from '../../lib/style.fake.ts'
import {
  printChecked,
  printCollected,
  printContentList,
  printExplained,
  printProcesses,
  printPulled,
  printRemoved,
} from './content.ts'
import { printVolume, printVolumeRemoved, printVolumes } from './volume.ts'

const golden = (name: string) => `golden/${name}.txt`
const style = aStyle()
const there = aStyle({ where: ' --root ./try' })
const digest = (start: string) => start.padEnd(64, '0') as Sha256
const soon = new Date(style.now.getTime() + 48_000).toISOString()

const aBlob = (differs: Partial<BlobStatus> = {}): BlobStatus => ({
  sha256: digest('9f2c41aa07'),
  role: 'layer',
  state: 'verified',
  size: 11_184_810,
  currentSize: 11_184_810,
  path: '/cairn/content/verified/9f2c',
  ...differs,
})

const someContent = (differs: Partial<ContentStatus> = {}): ContentStatus => ({
  scope: 'images',
  id: 'a1b2c3d4e5f6a7b8c9d0',
  name: 'registry.example/team/app:1.2',
  state: 'verified',
  sha256: digest('3e81b0'),
  blobs: [aBlob({ sha256: digest('3e81b0'), role: 'manifest', size: 1204, currentSize: 1204 }), aBlob()],
  totalSize: 11_186_014,
  currentSize: 11_186_014,
  progress: 100,
  waitingForCerts: false,
  ...differs,
})

const cut = someContent({
  name: 'registry.example/db:15',
  state: 'downloading',
  currentSize: 4_000_000,
  progress: 35,
  blobs: [
    aBlob({ sha256: digest('3e81b0'), role: 'manifest', size: 1204, currentSize: 1204 }),
    aBlob({
      state: 'downloading',
      currentSize: 3_998_796,
      error: {
        code: 'source.unauthorized',
        text: 'registry.example may not be read (HTTP 401): check the password of its datastore',
        severity: 'notice',
        since: style.now.toISOString(),
        retryAt: soon,
        source: 'downloader',
      },
    }),
  ],
  error: {
    code: 'source.unauthorized',
    text: 'registry.example may not be read (HTTP 401): check the password of its datastore',
    severity: 'notice',
    since: style.now.toISOString(),
    retryAt: soon,
    source: 'downloader',
  },
})

const aVolume = (differs: Partial<VolumeStatus> = {}): VolumeStatus => ({
  scope: 'volumes',
  displayName: 'web',
  owner: 'local',
  id: 'web',
  generation: 1,
  localGeneration: 0,
  origin: 'download',
  kind: 'disk',
  format: 'qcow2',
  readOnly: false,
  maxSize: 21_474_836_480,
  state: 'created',
  path: '/cairn/volumes/local+web#1.qcow2',
  usedSize: 11_186_014,
  preReboot: false,
  content: someContent(),
  ...differs,
})

describe('content', () => {
  it('that was pulled says what it is, who signed it and how to take it away', () =>
    expect(printPulled(someContent({ signedBy: 'the key 4f1e' }), there)).toMatchFileSnapshot(golden('content-pull')))

  it('that is one file says where it lies', () => {
    const blob = aBlob({ role: 'blob', path: '/cairn/content/verified/9f2c.application%2Foctet-stream' })
    return expect(
      printPulled(someContent({ name: 'https://example.com/disk.qcow2', blobs: [blob] }), style),
    ).toMatchFileSnapshot(golden('content-pull-file'))
  })

  it('is listed with its state, and what holds it up', () =>
    expect(printContentList([someContent(), cut], style)).toMatchFileSnapshot(golden('content-list')))

  it('teaches the first command where there is none', () =>
    expect(printContentList([], there)).toMatchFileSnapshot(golden('content-list-empty')))

  it('that waits is explained down to the blob and the next try', () =>
    expect(printExplained(cut, style)).toMatchFileSnapshot(golden('content-explain')))

  it('that is let go names the way back', () =>
    expect(printRemoved(someContent(), there)).toMatchFileSnapshot(golden('content-rm')))

  it('that was hashed again says that it is whole', () =>
    expect(printChecked({ checked: 26, damaged: [] }, style)).toBe('26 blobs hashed, all of them as they should be.'))

  it('that rotted is named', () => {
    const damaged = [{ sha256: digest('9f2c41aa07'), reason: 'its bytes have the digest 00ff…' }]
    return expect(printChecked({ checked: 26, damaged }, there)).toMatchFileSnapshot(golden('content-verify-damaged'))
  })

  it('that nobody wants is told before it goes', () => {
    const unused = [
      { what: 'blob', key: digest('9f2c41aa07'), name: 'application/octet-stream', size: 11_184_810 },
      { what: 'volume', key: 'unknown/blank:local:old#1', name: 'old', size: 4096 },
    ] as const
    return expect(printCollected({ dryRun: true, unused }, there)).toMatchFileSnapshot(golden('content-gc-dry-run'))
  })
})

describe('the processes', () => {
  const one = (differs: Partial<Isolation>): Isolation => ({
    process: 'verifier',
    permission: true,
    netns: true,
    ownUid: false,
    checked: true,
    proof: ['ERR_ACCESS_DENIED', 'ERR_ACCESS_DENIED'],
    insecure: false,
    health: 'running',
    starts: 1,
    ...differs,
  })

  it('show their walls and the proof', () => {
    const processes = [
      one({}),
      one({ process: 'downloader', netns: false, checked: false, proof: [], ownUid: true }),
      one({ process: 'manager', health: 'degraded', starts: 7 }),
    ]
    return expect(printProcesses(processes, style)).toMatchFileSnapshot(golden('content-status'))
  })

  it('say aloud that they are not isolated', () => {
    const processes = [
      one({ permission: false, netns: false, checked: false, proof: ['ECONNREFUSED'], insecure: true }),
    ]
    return expect(printProcesses(processes, style)).toMatchFileSnapshot(golden('content-status-insecure'))
  })
})

describe('a volume', () => {
  it('that is ready says where it is', () =>
    expect(printVolume(aVolume(), style)).toMatchFileSnapshot(golden('volume-show')))

  it('that waits for its content shows the blobs', () => {
    const { path: _, ...volume } = aVolume({ state: 'downloading', content: cut, usedSize: 0 })
    return expect(printVolume(volume, style)).toMatchFileSnapshot(golden('volume-show-waiting'))
  })

  it('is listed beside those that nobody claims', () => {
    const goesAt = new Date(style.now.getTime() + 1_800_000).toISOString()
    const found = aVolume({ scope: 'unknown', displayName: 'old', id: 'old', format: 'raw', collectedAt: goesAt })
    return expect(printVolumes([aVolume(), found], style)).toMatchFileSnapshot(golden('volume-list'))
  })

  it('teaches the first command where there is none', () =>
    expect(printVolumes([], there)).toMatchFileSnapshot(golden('volume-list-empty')))

  it('that is gone says what went with it', () => {
    expect(printVolumeRemoved(aVolume())).toBe('web is taken away; 11.2 MB freed.')
    expect(printVolumeRemoved(aVolume({ readOnly: true }))).toBe(
      'web is taken away; its content stays as long as something keeps it.',
    )
  })
})
