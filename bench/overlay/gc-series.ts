// Garbage collection: generations of 40 packages with 5 files each, none shared; the older half is to go.
// The stores are made once and copied for each round.
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { OverlayConfig } from '../../src/resources/overlay-config.ts'
import { runUnmeasured } from '../lib/command.ts'
import { randomFrom } from '../lib/random.ts'
import { removeAll } from '../lib/remove.ts'
import { present, type Series } from '../lib/rounds.ts'
import { seriesOf, steps } from './names.ts'
import type { Programs } from './programs.ts'

export interface GcOptions {
  readonly generations: number
  readonly rounds: number
  readonly warmUp: boolean
  readonly directory: string
}

const packagesEach = 40
const filesEach = 5

export function gcSeries(programs: Programs, { generations, rounds, warmUp, directory }: GcOptions): Series {
  const at = (name: string) => join(directory, name)
  const machine = programs.cairn(at('machine'))
  const nix = programs.nix?.(at('nix'))
  const ostree = programs.ostree?.(at('ostree'))
  const kept = Math.ceil(generations / 2)
  const states = generations * packagesEach

  const directories = [machine.root, nix?.directory, ostree?.directory].filter(path => path !== undefined)
  let made = false
  let left: string[] = []
  const makeOnce = () => {
    if (made) return
    nix?.begin()
    ostree?.begin()
    for (let number = 0; number < generations; number++) {
      const generation = writeGeneration(at('sources'), number)
      runUnmeasured(machine.apply(generation.config))
      const added = nix?.addNow(generation.packages) ?? []
      if (number >= generations - kept) nix?.root(added)
      ostree?.commitNow(generation.sources, `generation-${number}`)
      if (number < generations - kept) ostree?.deleteBranch(`generation-${number}`)
    }
    for (const path of directories) runUnmeasured({ program: 'mv', args: [path, `${path}.made`] })
    made = true
  }
  return {
    name: seriesOf.gc(states, generations),
    files: states * filesEach,
    rounds,
    warmUp,
    begin() {
      makeOnce()
      removeAll(...directories)
      for (const path of directories) runUnmeasured({ program: 'cp', args: ['-a', `${path}.made`, path] })
    },
    steps: [
      {
        name: steps.gcDryRun,
        contenders: present(machine.gc('--keep', String(kept), '--dry-run'), nix?.printDead(), ostree?.pruneDry()),
      },
      {
        name: steps.gc,
        contenders: present(machine.gc('--keep', String(kept)), nix?.gc(), ostree?.prune()),
        after() {
          left = [
            `Left after gc: ${namesIn(join(machine.root, 'cairn/records'))} package states of Cairn`,
            ...(nix ? [`${namesIn(nix.store)} paths of nix`] : []),
          ]
        },
      },
    ],
    remarks: () => [`${left.join(', ')}.`],
  }
}

const namesIn = (directory: string) => readdirSync(directory).filter(name => /^app-.*\.json$|-app-/.test(name)).length

function writeGeneration(directory: string, number: number) {
  const sources = join(directory, String(number))
  const random = randomFrom(number)
  const names = Array.from({ length: packagesEach }, (_, index) => `app-${number}-${index}`)
  const files = Array.from({ length: filesEach }, (_, index) => `key-${index}.conf`)
  for (const name of names) {
    mkdirSync(join(sources, name, name), { recursive: true })
    for (const file of files) writeFileSync(join(sources, name, name, file), `${name} ${file} ${random()}\n`.repeat(40))
  }
  const config: OverlayConfig = {
    version: `generation-${number}`,
    packageByNames: Object.fromEntries(
      names.map(name => [
        name,
        {
          version: '1',
          source: { type: 'file', uri: join(sources, name) },
          etcFiles: files.map(file => ({ source: `${name}/${file}`, target: `${name}/${file}` })),
        },
      ]),
    ),
  }
  const path = join(directory, `${number}.json`)
  writeFileSync(path, JSON.stringify(config))
  return { sources, config: path, packages: names.map(name => join(sources, name)) }
}
