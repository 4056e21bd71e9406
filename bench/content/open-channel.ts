// Present content asked for by a program that has its channel already, as the agent and the overlay do: no process is started.
import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { doorOn } from '../../src/content/ask.ts'
import { contentRefOf } from '../../src/content/content-ref.ts'
import { contentLayoutOf } from '../../src/content/layout.ts'
import { connectTo } from '../../src/content/supervisor/connect.ts'
import { realClock } from '../../src/lib/clock.ts'
import { silentProgress } from '../../src/lib/progress.ts'
import { runUnmeasured } from '../lib/command.ts'
import { printMs } from '../lib/report.ts'
import type { SeriesResult } from '../lib/rounds.ts'
import { type Spread, spreadOf } from '../lib/statistics.ts'
import type { Machine } from './cairn.ts'
import type { BenchImage } from './images.ts'
import { seriesOf } from './names.ts'

export interface OpenChannel extends SeriesResult {
  readonly ms: Spread
}

export async function measureOpenChannel(machine: Machine, image: BenchImage, rounds: number): Promise<OpenChannel> {
  machine.begin()
  machine.startDaemon()
  try {
    runUnmeasured(machine.command('', 'content', 'pull', image.reference))
    const { root } = machine
    const peer = await connectTo(contentLayoutOf({ base: `${root}/cairn`, run: `${root}/run/cairn` }), 'requester')
    if (!peer) throw new Error('the daemon cannot be reached')
    const ref = contentRefOf({ text: image.reference, baseDirectory: '/' })
    if (!('name' in ref)) throw new Error('the image has no name')
    const door = doorOn(peer, { clock: realClock, newId: randomUUID })
    const { signal } = new AbortController()
    const taken: number[] = []
    for (let round = 0; round <= rounds; round++) {
      const started = performance.now()
      const { release } = await door.fetch({ scope: 'packages', ref, label: '', progress: silentProgress, signal })
      taken.push(performance.now() - started)
      release()
      await setTimeout(100)
    }
    peer.close()
    const ms = spreadOf(taken.slice(1))
    const remarks = [
      `${image.title}, all there, asked for on an open channel: ${printMs(ms.median)} (${printMs(ms.min)} – ${printMs(ms.max)}).`,
    ]
    return { series: seriesOf.openChannel, files: 0, steps: [], remarks, ms }
  } finally {
    machine.stopDaemon()
  }
}
