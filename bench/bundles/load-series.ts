// Requests a second, and how long the slowest of a hundred takes, with several connections that ask without a pause.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Options, Result } from 'autocannon'
import * as bundles from '../../src/server/contract/bundles.ts'
import * as resources from '../../src/server/contract/resources.ts'
import type { TestServer } from '../../test/bundles/server.ts'
import { printMs } from '../lib/report.ts'
import type { SeriesResult } from '../lib/rounds.ts'
import { spreadOf } from '../lib/statistics.ts'
import { benchBundle } from './data.ts'
import { type DatabaseKind, seriesOf } from './names.ts'

export interface LoadOptions {
  readonly server: TestServer
  readonly database: DatabaseKind
  readonly rounds: number
  readonly seconds: number
  readonly say: (line: string) => void
}

const connections = 10
const [stored, planned] = [1_000, 10]

export async function measureLoad({ server, database, rounds, seconds, say }: LoadOptions): Promise<SeriesResult> {
  const { client } = server
  const sources = [...benchBundle(stored).yaml]
  await client.call(bundles.applyBundle, { body: { sources, stackName: 'stored' } })
  const small = [...benchBundle(planned).yaml]
  const { stackId } = await client.call(bundles.applyBundle, { body: { sources: small, stackName: 'small' } })
  const page = await client.call(resources.listResources, { params: { kind: 'Machine' }, query: { limit: '1' } })
  const asked: Record<string, Pick<Options, 'method' | 'body'> & { readonly path: string }> = {
    'GET one resource': { path: `/api/v1/resources/Machine/${page.resources[0]!.metadata.id}` },
    'GET a list of 100': { path: '/api/v1/resources/Machine?limit=100' },
    'GET openapi.json': { path: '/api/v1/openapi.json' },
    [`plan of ${planned} resources, no change`]: {
      path: '/api/v1/bundles/plan',
      method: 'POST',
      body: JSON.stringify({ stack: stackId, sources: small }),
    },
  }
  const remarks: string[] = []
  for (const [name, { path, ...request }] of Object.entries(asked)) {
    say(`${seriesOf.load(database)}: ${name}`)
    const results: Result[] = []
    for (let round = 0; round <= rounds; round++)
      results.push(
        await underLoad({
          url: new URL(path, server.url).href,
          connections,
          duration: seconds,
          headers: {
            authorization: `Bearer ${server.adminToken}`,
            ...(request.body !== undefined && { 'content-type': 'application/json' }),
          },
          ...request,
        }),
      )
    remarks.push(`${name}: ${printLoad(results.slice(1))}.`)
  }
  return {
    series: seriesOf.load(database),
    files: stored,
    steps: [],
    remarks: [`${connections} connections, ${stored.toLocaleString('en')} resources in the database.`, ...remarks],
  }
}

async function underLoad(options: Options): Promise<Result> {
  const child = fork(fileURLToPath(new URL('./load-process.ts', import.meta.url)))
  child.send(options)
  const [result] = (await once(child, 'message')) as [Result]
  await once(child, 'exit')
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${options.url}: ${result.non2xx} answers were no 2xx, ${result.errors} failed`)
  return result
}

function printLoad(results: readonly Result[]): string {
  const rate = spreadOf(results.map(({ requests }) => requests.average))
  const late = spreadOf(results.map(({ latency }) => latency.p99))
  const number = (value: number) => Math.round(value).toLocaleString('en')
  return `${number(rate.median)} a second (${number(rate.min)} – ${number(rate.max)}), 99 of 100 within ${printMs(late.median)} (${printMs(late.min)} – ${printMs(late.max)})`
}
