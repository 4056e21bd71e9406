// The reducer alone. Recorded once and then played to a new switchboard: what happens while trees of ten blobs are pulled, an
// event for each change; and what a manager hears that starts with all of it there. Only reduce is timed.
import { newSwitchboard } from '../../src/volumes/switchboard/model.ts'
import type { SwitchboardEvent } from '../../src/volumes/switchboard/protocol.ts'
import { reduce } from '../../src/volumes/switchboard/reduce.ts'
import { aContent, addImage, aRef, emptyTruth, World } from '../../src/volumes/switchboard/world.fake.ts'
import type { ContenderResult, SeriesResult } from '../lib/rounds.ts'
import { type Spread, spreadOf } from '../lib/statistics.ts'
import { seriesOf, steps } from './names.ts'

const blobsEach = 10

export interface Played {
  readonly blobs: number
  readonly events: number
  readonly pulled: Spread
  readonly restarted: Spread
}

export interface SwitchboardResult extends SeriesResult {
  readonly played: readonly Played[]
}

export function switchboardSeries(sizes: readonly number[], rounds: number): SwitchboardResult {
  const played = sizes.map((blobs): Played => {
    const { pulled, restarted } = record(blobs)
    const time = (events: readonly SwitchboardEvent[]) =>
      spreadOf(Array.from({ length: rounds + 1 }, () => play(events, blobs)).slice(1))
    return { blobs, events: pulled.length, pulled: time(pulled), restarted: time(restarted) }
  })
  const row = (name: string, ms: Spread): ContenderResult => ({
    name,
    ms,
    ratio: null,
    peakBytes: null,
    calls: null,
    rounds,
  })
  return {
    series: seriesOf.switchboard,
    files: 0,
    steps: played.map(({ blobs, pulled, restarted }) => ({
      step: `${blobs.toLocaleString('en')} blobs in ${blobs / blobsEach} trees`,
      contenders: [row(steps.pulled, pulled), row(steps.restarted, restarted)],
    })),
    remarks: played.map(
      ({ blobs, events, pulled }) =>
        `A pull of ${blobs.toLocaleString('en')} blobs is ${events.toLocaleString('en')} events, ${((pulled.median * 1000) / events).toFixed(0)} µs each.`,
    ),
    played,
  }
}

/** In each tree an index, a manifest, a config and seven layers. */
function record(blobs: number) {
  const truth = emptyTruth()
  const world = new World({ truth })
  let heard: SwitchboardEvent[] = []
  const feed = world.feed.bind(world)
  world.feed = event => {
    heard.push({ ...event, now: world.now })
    return feed(event)
  }
  world.start()
  for (let tree = 0; tree < blobs / blobsEach; tree++) {
    const name = `app-${tree}`
    const layers = Array.from({ length: blobsEach - 3 }, (_, layer) => `${name} layer ${layer}`)
    const { root } = addImage(truth, name, layers)
    world.request(aContent(name, aRef({ name, sha256: root })))
  }
  world.settle()
  const pulled = heard.flatMap(oneByOne)
  heard = []
  world.start()
  world.settle()
  return { pulled, restarted: heard }
}

function oneByOne(event: SwitchboardEvent): SwitchboardEvent[] {
  if (event.on !== 'changes') return [event]
  return [
    ...event.puts.map(put => ({ ...event, puts: [put], deletes: [] })),
    ...event.deletes.map(gone => ({ ...event, puts: [], deletes: [gone] })),
  ]
}

function play(events: readonly SwitchboardEvent[], blobs: number): number {
  const state = newSwitchboard('/content/pending')
  const started = performance.now()
  for (const event of events) reduce(state, event)
  const ms = performance.now() - started
  const verified = state.published.contentStatus.values().filter(status => status.state === 'verified')
  if ([...verified].length !== blobs / blobsEach) throw new Error('not all trees were verified')
  return ms
}
