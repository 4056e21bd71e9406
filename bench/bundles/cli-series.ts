// The command line of the shipped bundle: what it adds to what the server takes.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Ground, TestServer } from '../../test/bundles/server.ts'
import type { Contender, Series } from '../lib/rounds.ts'
import { benchBundle } from './data.ts'
import { seriesOf } from './names.ts'

export interface CliSeriesOptions {
  readonly ground: Ground
  readonly server: TestServer
  readonly counts: readonly number[]
  readonly rounds: number
}

export function cliSeries({ ground, server, counts, rounds }: CliSeriesOptions): Series {
  const node: Contender = { name: 'node -e 0', program: process.execPath, args: ['-e', '0'] }
  return {
    name: seriesOf.cli,
    files: Math.max(...counts),
    rounds,
    warmUp: true,
    steps: counts.map((count, index) => {
      const directory = join(ground.directory, `bundle-${count}`)
      mkdirSync(directory)
      for (const { name, content } of benchBundle(count).yaml) writeFileSync(join(directory, name), content)
      const [program = '', ...args] = ground.command('plan', '-f', directory)
      const plan = { name: 'cairn plan -f', program, args, env: { CAIRN_DATA: server.data } }
      return {
        name: `plan of ${count.toLocaleString('en')} new resources`,
        contenders: index === 0 ? [plan, node] : [plan],
      }
    }),
  }
}
