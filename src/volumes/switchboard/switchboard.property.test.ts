import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ContentConfig, VolumeConfig } from '../../content/messages.ts'
import {
  aContent,
  addBlob,
  addImage,
  aFileRef,
  aRef,
  aVolume,
  chanceOf,
  emptyTruth,
  shaOf,
  World,
} from './world.fake.ts'

const parameters = {
  numRuns: Number(process.env.CAIRN_RUNS ?? 150),
  ...(process.env.CAIRN_SEED && { seed: Number(process.env.CAIRN_SEED) }),
}

function aTruth() {
  const truth = emptyTruth()
  addImage(truth, 'one', ['shared', 'a', 'b'])
  addImage(truth, 'two', ['shared', 'c', 'c'])
  const disk = addBlob(truth, 'disk', 1000)
  truth.urls.set('https://files.example/disk.raw', disk)
  truth.urls.set('https://files.example/tool.tar', addBlob(truth, 'tool', 300))
  const signature = addImage(truth, 'signature', ['payload'])
  truth.referrers.set(shaOf('index two'), [signature.manifest])
  return truth
}

const trust = { policy: 'required', keys: ['a key'], certificates: [] } as const
const requests: readonly (ContentConfig | VolumeConfig)[] = [
  aContent('one', aRef({ name: 'one', tag: 'latest' })),
  aContent('one', aRef({ name: 'one', tag: 'latest' }), { scope: 'packages' }),
  aContent(
    'two',
    aRef({ name: 'two', sha256: shaOf('index two'), trust: { ...trust, keys: ['k'], certificates: [] } }),
  ),
  aContent('loaded', aRef({ name: 'two', sha256: shaOf('index two') }), { until: 'loaded' }),
  aContent('tool', aFileRef('https://files.example/tool.tar')),
  aVolume('disk', { content: aFileRef('https://files.example/disk.raw', { sha256: shaOf('disk') }), maxSize: 2000 }),
  aVolume('unpinned', { content: aFileRef('https://files.example/disk.raw') }),
  aVolume('reader', { content: aFileRef('https://files.example/disk.raw', { sha256: shaOf('disk') }), readOnly: true }),
  aVolume('box', { kind: 'container', content: aRef({ name: 'one', tag: 'latest' }) }),
  aVolume('blank', { origin: 'blank', maxSize: 5000 }),
  aVolume('lib', { owner: 'shared', content: aFileRef('https://files.example/disk.raw', { sha256: shaOf('disk') }) }),
  aVolume('lib', {
    owner: 'shared',
    scope: 'packages',
    readOnly: true,
    content: aFileRef('https://files.example/disk.raw', { sha256: shaOf('disk') }),
  }),
]

type Move =
  | { readonly do: 'ask'; readonly which: number }
  | { readonly do: 'withdraw'; readonly which: number }
  | { readonly do: 'crash'; readonly who: 'manager' | 'downloader' | 'verifier' }
  | { readonly do: 'resync' }
  | { readonly do: 'steps'; readonly count: number }

const move: fc.Arbitrary<Move> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom('ask' as const, 'ask' as const, 'withdraw' as const),
      which: fc.nat(requests.length - 1),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('crash' as const),
      who: fc.constantFrom('manager' as const, 'downloader' as const, 'verifier' as const),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ do: 'resync' } as const) },
  { weight: 8, arbitrary: fc.record({ do: fc.constant('steps' as const), count: fc.nat(60) }) },
)

function play(world: World, moves: readonly Move[]) {
  world.start()
  for (const one of moves) {
    if (one.do === 'ask') world.request(requests[one.which]!)
    else if (one.do === 'withdraw') world.withdraw(requests[one.which]!)
    else if (one.do === 'resync') world.resync()
    else if (one.do === 'steps') for (let count = 0; count < one.count && world.step(); count++);
    else if (one.who === 'manager') world.crashManager()
    else if (one.who === 'downloader') world.crashDownloader()
    else world.crashVerifier()
  }
  world.settle()
  // Retries, then everything that nobody wants goes.
  for (let hour = 0; hour < 12; hour++) {
    world.pass(20 * 60_000)
    world.settle()
  }
}

/** The end of a run, without times and counters. */
function endOf(world: World) {
  const statuses = [...world.state.published.contentStatus].map(([key, { state, sha256, error, blobs }]) => [
    key,
    state,
    sha256,
    error?.code,
    blobs.map(blob => [blob.sha256, blob.state]),
  ])
  const volumes = [...world.state.published.volumeStatus].map(([key, { state, path, error, content }]) => [
    key,
    state,
    path,
    error?.code,
    content?.sha256,
  ])
  const asText = (list: unknown[]) => list.map(item => JSON.stringify(item)).sort()
  return {
    statuses: asText(statuses),
    volumes: asText(volumes),
    verified: [...world.verified.keys()].sort(),
    onDisk: [...world.disk.volumes.keys()].sort(),
    records: [...world.disk.records.keys()].sort(),
    latches: [...world.disk.latches.keys()].sort(),
    images: [...world.loadedImages].sort(),
    pending: [...world.pendingFiles.keys()].sort(),
    deferred: [...world.disk.deferred.keys()],
    downloads: [...world.state.published.downloadConfig.keys()],
  }
}

it('brings everything that is asked for to its end in a calm world', () => {
  const world = new World({ truth: aTruth() })
  play(
    world,
    requests.map((_, which) => ({ do: 'ask', which })),
  )
  const states = [...world.state.published.contentStatus.values(), ...world.state.published.volumeStatus.values()].map(
    ({ state }) => state,
  )
  expect(states.toSorted()).toEqual([...Array(7).fill('created'), 'loaded', ...Array(4).fill('verified')])
  // Nothing twice: the layers that two images share, the disk that four volumes are made of.
  expect(world.freshDownloads).toBe(
    new Set(
      [...world.log].flatMap(effect =>
        effect.do === 'publish' && effect.topic === 'downloadConfig' ? [effect.key] : [],
      ),
    ).size,
  )
})

describe('the switchboard in a world of delays and crashes', () => {
  it('ends in the state of an undisturbed run, and holds its rules at every step', () => {
    fc.assert(
      fc.property(fc.array(move, { maxLength: 40 }), fc.integer(), (moves, seed) => {
        const disturbed = new World({
          truth: aTruth(),
          chance: chanceOf(seed),
          badDownloads: new Map([[shaOf('a'), 2]]),
        })
        play(disturbed, moves)
        const calm = new World({ truth: aTruth() })
        play(
          calm,
          moves.filter(({ do: what }) => what === 'ask' || what === 'withdraw'),
        )
        expect(endOf(disturbed)).toEqual(endOf(calm))
      }),
      parameters,
    )
  }, 120_000)
})
