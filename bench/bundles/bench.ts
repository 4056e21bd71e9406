// npm run bench -- bundles: validate, plan, apply and export of small and large bundles on both databases, through the HTTP API
// of a real server process; requests under load; the command line; beside kubectl where there is an API server.
import { mkdirSync } from 'node:fs'
import { type Ground, openGround, type TestServer } from '../../test/bundles/server.ts'
import { postgresPrograms } from '../../test/server/postgres-programs.ts'
import type { Bench } from '../lib/bench.ts'
import { printSeries } from '../lib/report.ts'
import { runSeries, type SeriesResult } from '../lib/rounds.ts'
import { findTool } from '../lib/tool.ts'
import { aimsOf } from './aims.ts'
import { cliSeries } from './cli-series.ts'
import { benchBundle } from './data.ts'
import { measureKubectl } from './kubectl-series.ts'
import { measureLoad } from './load-series.ts'
import type { DatabaseKind } from './names.ts'
import { measureOperations, type Operations } from './operations.ts'
import { measureParts } from './parts-series.ts'

const seriesNames = ['parts', 'sqlite', 'postgres', 'load', 'cli', 'kubectl']

/** More than it takes by default. */
const flags = ['--limit', 'resources=20000', '--limit', 'requestBytes=33554432']

export const bench: Bench = async ({ quick, directory, say, only = seriesNames, rounds = quick ? 1 : 5 }) => {
  const unknown = only.filter(name => !seriesNames.includes(name))
  if (unknown.length > 0) throw new Error(`no series ${unknown.join(', ')}; there are: ${seriesNames.join(', ')}`)
  const counts = quick ? [100, 500] : [100, 1_000, 10_000]
  const kubectl = findTool('kubectl')
  mkdirSync(directory, { recursive: true })
  const series: SeriesResult[] = []
  const operations: Operations[] = []

  // Each table is shown when it is ready: a long run that is stopped has told what it found.
  const show = <Result extends SeriesResult>(result: Result): Result => {
    say(['', ...printSeries(result), ''].join('\n\n'))
    series.push(result)
    return result
  }
  const inMemory = only.includes('parts') ? show(await measureParts(counts.at(-1)!, rounds)) : null
  for (const database of ['sqlite', 'postgres'] as const) {
    if (!only.includes(database)) continue
    for (const count of counts)
      await onServer(database, say, async server => {
        const bundle = benchBundle(count)
        operations.push(show(await measureOperations({ server, database, bundle, rounds, say })))
      })
  }
  if (only.includes('load'))
    for (const database of ['sqlite', 'postgres'] as const)
      await onServer(database, say, async server => {
        show(await measureLoad({ server, database, rounds, seconds: quick ? 1 : 5, say }))
      })
  if (only.includes('cli'))
    await onServer('sqlite', say, async (server, ground) => {
      show(await runSeries(cliSeries({ ground, server, counts: [10, counts.at(-1)!], rounds }), say))
    })
  if (only.includes('kubectl')) show(await measureKubectl(kubectl, { counts, directory }))
  return { suite: 'bundles', tools: [kubectl], series, growth: [], aims: aimsOf(inMemory, operations), remarks }
}

/** Each measurement has a server of its own, which has done nothing before. */
async function onServer(
  database: DatabaseKind,
  say: (line: string) => void,
  work: (server: TestServer, ground: Ground) => Promise<void>,
): Promise<void> {
  if (database === 'postgres' && !postgresPrograms()) return say('PostgreSQL is not installed and left out')
  const ground = await openGround(database)
  try {
    await work(await ground.startServer({ flags }), ground)
  } finally {
    await ground.remove()
  }
}

const remarks = [
  'The server is the shipped bundle, one process, plain HTTP on loopback. Its processor time is that of all its threads, as the kernel counts it; the database is in it for SQLite and not for PostgreSQL. The first of the rounds warms up and is not counted.',
  'The parts of a plan are measured in the process of the benchmark, without HTTP and database; "plan" there is what decides, from a bundle, a record and live resources that are in memory.',
  'A plan of the server contains everything: receiving the request, reading YAML (or JSON), validating, reading record and live resources, planning, and writing the answer, which has every resource in it.',
  'SQLite is in memory where there is /dev/shm, so that flushing is free; PostgreSQL is on disk and flushes. Of every hundred resources 60 are machines, 10 instances, 10 volumes, 10 cached images, 6 variables, 4 labels.',
  'Memory is the most that the server had resident during the step.',
]
