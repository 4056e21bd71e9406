// npm run bench -- overlay: the overlay's commands beside those of others, and against its aims.
import { existsSync, mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import type { Bench } from '../lib/bench.ts'
import { removeAll } from '../lib/remove.ts'
import { printSeries } from '../lib/report.ts'
import { runSeries, type Series, type SeriesResult } from '../lib/rounds.ts'
import { aimsOf } from './aims.ts'
import { ansibleSeries } from './ansible-series.ts'
import { buildCairn } from './cairn.ts'
import { filesSeries } from './files-series.ts'
import { gcSeries } from './gc-series.ts'
import { growthOf } from './growth.ts'
import { planManyUnits } from './plan-units.ts'
import { findPrograms } from './programs.ts'
import { startSeries } from './start-series.ts'

const sizes = {
  full: { small: 1000, large: 10_000, generations: 50, ansibleFiles: 200, ansibleRounds: 3, warmUp: true },
  quick: { small: 100, large: 250, generations: 4, ansibleFiles: 2, ansibleRounds: 1, warmUp: false },
}

const seriesNames = ['start', 'plan', 'small', 'large', 'memory', 'gc', 'ansible']

export const bench: Bench = async ({ quick, directory, say, only = seriesNames, rounds = quick ? 1 : 10 }) => {
  const unknown = only.filter(name => !seriesNames.includes(name))
  if (unknown.length > 0) throw new Error(`no series ${unknown.join(', ')}; there are: ${seriesNames.join(', ')}`)
  const { small, large, generations, ansibleFiles, ansibleRounds, warmUp } = quick ? sizes.quick : sizes.full
  const at = (name: string) => join(directory, name)
  say('building the bundle')
  const cairn = buildCairn(at('cairn'))
  const { tools, programs } = findPrograms(cairn)

  // Each table is shown when it is ready: a long run that is stopped has told what it found.
  const run = async (name: string, series: () => Series): Promise<SeriesResult | null> => {
    if (!only.includes(name)) return null
    const result = await runSeries(series(), say)
    say(['', ...printSeries(result), ''].join('\n\n'))
    return result
  }
  const filesAt = (files: number, place: 'disk' | 'memory', where: string) =>
    filesSeries(programs, { files, rounds, warmUp, place, directory: where })

  const start = await run('start', () => startSeries(cairn, rounds))
  const plan = only.includes('plan') ? planManyUnits(1000, rounds) : null
  const smallFiles = await run('small', () => filesAt(small, 'disk', at('small')))
  const largeFiles = await run('large', () => filesAt(large, 'disk', at('large')))
  removeAll(at('small'), at('large'))
  const inMemory = quick
    ? null
    : await withMemory(memory => run('memory', () => filesAt(large, 'memory', join(memory, 'files'))))
  const gc = await run('gc', () => gcSeries(programs, { generations, rounds, warmUp, directory: at('gc') }))
  const { ansible: ansibleAt } = programs
  const fewRounds = Math.min(rounds, ansibleRounds)
  const ansible =
    ansibleAt &&
    (await run('ansible', () =>
      ansibleSeries(programs.cairn, ansibleAt, { files: ansibleFiles, rounds: fewRounds, directory: at('ansible') }),
    ))

  const growth = smallFiles && largeFiles ? growthOf(smallFiles, largeFiles) : []
  return {
    suite: 'overlay',
    tools,
    series: [start, plan, smallFiles, largeFiles, inMemory, gc, ansible].filter(result => result !== null),
    growth,
    aims: aimsOf({ start, plan, files: largeFiles, gc, ansible, growth }),
    remarks,
  }
}

const memoryFileSystem = '/dev/shm'

/** There flushing costs nothing: the same steps show what durability takes. */
async function withMemory<T>(work: (directory: string) => Promise<T>): Promise<T | null> {
  if (!existsSync(memoryFileSystem)) return null
  const directory = mkdtempSync(join(memoryFileSystem, 'cairn-bench-'))
  const remove = () => removeAll(directory)
  process.once('exit', remove)
  try {
    return await work(directory)
  } finally {
    process.off('exit', remove)
    remove()
  }
}

const remarks = [
  'Contenders of a step run in turns, in one run; each ratio is that of the medians, in brackets the least and the most of one round. Before each command everything is flushed, so that nobody waits for what another one wrote.',
  'Caches are warm: "nothing there" means an empty store, not an empty page cache. The start of Node is in all of our times.',
  'Durability: Cairn flushes every state, record, journal and switch before it says that it is done. nix 2.8 flushes its database, not the files, unless told to ("synced"); ostree flushes its commits; stow, cp and ansible flush nothing. The series in memory, where flushing is free for all, shows ours without that price.',
  'nix 2.8 is what Debian 12 has, and old; newer ones may differ.',
  '"share equal files" of ours is `prepare --dedup`, and contains an import again. stow makes links to the sources and keeps no store; nix-env and ostree reset only turn one link or ref, where a rollback of ours looks at every entry below /etc.',
  'Peak memory is that of the largest process. System calls are those of all threads, counted once.',
]
