// The aims, and what was measured. An aim that is missed is said so; it is no error.
import { printSize } from '../../src/lib/size.ts'
import { type Aim, printMs, times } from '../lib/report.ts'
import type { SeriesResult } from '../lib/rounds.ts'
import type { Memory } from './memory.ts'
import { steps, who } from './names.ts'
import type { OpenChannel } from './open-channel.ts'
import type { Resume } from './resume.ts'
import type { Played } from './switchboard-series.ts'

/** Null is not measured. */
export interface Measured {
  readonly pull: SeriesResult | null
  readonly pullInMemory: SeriesResult | null
  readonly blob: SeriesResult | null
  readonly volumes: SeriesResult | null
  readonly openChannel: OpenChannel | null
  readonly resume: Resume | null
  readonly memory: Memory | null
  readonly switchboard: readonly Played[] | null
}

const most = { twice: 8 * 2 ** 20, peak: 100e6, idle: 60e6, written: 2 }

export function aimsOf({
  pull,
  pullInMemory,
  blob,
  volumes,
  openChannel,
  resume,
  memory,
  switchboard,
}: Measured): Aim[] {
  const thousand = switchboard?.find(({ blobs }) => blobs === 1000)
  const linear = switchboard && growthOf(switchboard)
  return [
    ...(
      [
        ['on disk, ours synced', pull],
        ['in memory', pullInMemory],
      ] as const
    ).flatMap(([where, series]) => [
      atMost(
        `pull and verify, daemon running / skopeo, ${where}`,
        1,
        ratio(series, steps.cold, who.daemon, who.skopeo),
      ),
      atMost(`pull and verify, one command / skopeo, ${where}`, 1, ratio(series, steps.cold, who.oneShot, who.skopeo)),
    ]),
    atMost(
      "asked again, daemon running / skopeo's first copy",
      0.1,
      ratioOf(medianOf(pull, steps.again, who.daemon), medianOf(pull, steps.cold, who.skopeo)),
    ),
    atMost('asked again, daemon running / skopeo again', 0.1, ratio(pull, steps.again, who.daemon, who.skopeo)),
    atMost(
      'asked again on an open channel / skopeo again',
      0.1,
      ratioOf(openChannel?.ms.median, medianOf(pull, steps.again, who.skopeo)),
    ),
    below('asked again, daemon running', 150, medianOf(pull, steps.again, who.daemon), printMs),
    atMost('download of one blob / curl', 1 / 0.6, ratio(blob, steps.blob, who.downloader, who.curl)),
    atMost('verify / openssl and cp', 1.3, ratio(blob, steps.verify, who.verifier, who.opensslAndCp)),
    atMost('container volume / ctr image pull', 1.5, ratio(volumes, steps.container, who.volume, who.ctrPull)),
    atMost('unpack / umoci unpack', 1, ratio(volumes, steps.unpack, who.volume, who.umoci)),
    below('fetched twice after a kill', most.twice + 1, resume?.mostTwice, printSize),
    below('peak memory of each process', most.peak, memory && Math.max(...Object.values(memory.peakBytes)), printSize),
    below(
      'memory of each process at rest',
      most.idle,
      memory && Math.max(...Object.values(memory.idleBytes)),
      printSize,
    ),
    below('bytes written for a byte of content', most.written * 1.01, memory?.writtenPerByte, value =>
      value.toFixed(2),
    ),
    below('1,000 blobs through the switchboard at a start', 50, thousand?.restarted.median, printMs),
    below('an event among 1,000 blobs', 1, thousand && thousand.pulled.median / thousand.events, printMs),
    atMost('cost of a blob, most blobs / fewest (linear is 1)', 1.2, linear),
  ]
}

const medianOf = (series: SeriesResult | null, step: string, name: string): number | undefined =>
  series?.steps.find(each => each.step === step)?.contenders.find(contender => contender.name === name)?.ms.median

const ratioOf = (ours: number | undefined, theirs: number | undefined) =>
  ours === undefined || theirs === undefined ? undefined : ours / theirs

const ratio = (series: SeriesResult | null, step: string, ours: string, theirs: string) =>
  ratioOf(medianOf(series, step, ours), medianOf(series, step, theirs))

function growthOf(played: readonly Played[]): number | undefined {
  const [least, greatest] = [played[0], played.at(-1)]
  return least && greatest && greatest.pulled.median / greatest.blobs / (least.pulled.median / least.blobs)
}

const atMost = (aim: string, wanted: number, value: number | null | undefined): Aim =>
  judged(aim, value, `at most ${times(wanted)}`, times, value => value <= wanted)

const below = (aim: string, wanted: number, value: number | null | undefined, print: (value: number) => string): Aim =>
  judged(aim, value, `under ${print(wanted)}`, print, value => value < wanted)

function judged(
  aim: string,
  value: number | null | undefined,
  wanted: string,
  print: (value: number) => string,
  isMet: (value: number) => boolean,
): Aim {
  const isThere = value !== null && value !== undefined
  return { aim, wanted, measured: isThere ? print(value) : null, met: isThere ? isMet(value) : null }
}
