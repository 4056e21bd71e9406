// The data of a benchmark, decided by a seed: packages of 50 small config files, one unit for every two packages.
// One tree serves all: a package is a `file` source for Cairn, a package for stow, a path for nix, a part of a tree for ostree.
import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { OverlayConfig } from '../../src/resources/overlay-config.ts'
import { type Random, randomFrom } from '../lib/random.ts'

export interface Data {
  /** Holds a directory for each package. */
  readonly sources: string
  readonly packages: readonly string[]
  /** Packages, their files below /etc, and the units. */
  readonly config: string
  /** The packages alone: what an import into another store is compared with. */
  readonly importConfig: string
  /** Changes every hundredth file: half get new bytes, half new bytes and another name. */
  change(where: Where): void
}

/** All in as few packages as possible, or each in another one. */
export type Where = 'together' | 'spread'

const perPackage = 50
const perDirectory = 10

interface File {
  readonly package: string
  readonly index: number
  revision: number
  /** Below the package, and below /etc. */
  path: string
}

export function makeData(directory: string, { files: count, seed = 1 }: { files: number; seed?: number }): Data {
  const sources = join(directory, 'sources')
  const config = join(directory, 'overlay.json')
  const importConfig = join(directory, 'import.json')
  const random = randomFrom(seed)
  const filler = fillerOf(random)
  const packages = Array.from({ length: Math.ceil(count / perPackage) }, (_, number) => nameOf('app', number, 3))
  const files = packages.flatMap(name => filesOf(name).slice(0, count))
  const write = (file: File) => {
    const path = join(sources, file.package, file.path)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, contentOf(file, filler, random))
  }
  const writeConfigs = () => {
    writeFileSync(config, JSON.stringify(configOf(sources, packages, files)))
    writeFileSync(importConfig, JSON.stringify(configOf(sources, packages, [])))
  }
  files.forEach(write)
  writeConfigs()
  let changes = 0
  return {
    sources,
    packages,
    config,
    importConfig,
    change(where) {
      const step = where === 'together' ? 1 : 100
      const first = where === 'together' ? 0 : changes++ % step
      for (let nth = 0; nth < count / 100; nth++) {
        const file = files[first + nth * step]
        if (!file) break
        const before = join(sources, file.package, file.path)
        file.revision++
        if (nth % 2 === 0) {
          file.path = pathOf(file)
          renameSync(before, join(sources, file.package, file.path))
        }
        write(file)
      }
      writeConfigs()
    },
  }
}

const nameOf = (word: string, number: number, digits: number) => `${word}-${String(number).padStart(digits, '0')}`

function filesOf(name: string): File[] {
  return Array.from({ length: perPackage }, (_, index) => {
    const file = { package: name, index, revision: 0, path: '' }
    return { ...file, path: pathOf(file) }
  })
}

function pathOf({ package: name, index, revision }: Pick<File, 'package' | 'index' | 'revision'>): string {
  const key = nameOf('key', index % perDirectory, 2)
  const part = nameOf('part', Math.floor(index / perDirectory), 1)
  return `${name}/${part}/${key}${revision > 0 ? `-r${revision}` : ''}.conf`
}

const fillerSize = 64 * 1024

const fillerOf = (random: Random) =>
  Array.from({ length: fillerSize / 8 }, () => `${random().toString(36).slice(2, 9).padEnd(7, '0')}\n`).join('')

/** 200 to 4,000 bytes; every tenth file has 8 KiB and is the same in all packages, so that there is something to share. */
function contentOf({ package: name, index, revision }: File, filler: string, random: Random): string {
  if (index % 10 === 9) return `# ${index} ${revision}\n${filler.slice(0, 8192)}`
  const size = 200 + Math.floor(random() * 3800)
  const start = Math.floor(random() * (fillerSize - size))
  return `# ${name} ${index} ${revision}\n${filler.slice(start, start + size)}`
}

function configOf(sources: string, packages: readonly string[], files: readonly File[]): OverlayConfig {
  const etcFiles = Map.groupBy(files, file => file.package)
  return {
    version: 'bench',
    packageByNames: Object.fromEntries(
      packages.map(name => [
        name,
        {
          version: '1',
          source: { type: 'file', uri: join(sources, name) },
          etcFiles: (etcFiles.get(name) ?? []).map(({ path }) => ({ source: path, target: path })),
        },
      ]),
    ),
    systemdUnitsByName: Object.fromEntries(
      files.length === 0 ? [] : packages.filter((_, number) => number % 2 === 0).map(name => [name, unitOf(name)]),
    ),
  }
}

const unitOf = (name: string) => ({
  version: '1',
  packages: [name],
  templateInline: `[Unit]
Description=${name}

[Service]
ExecStart=/bin/sleep infinity
ExecReload=/bin/true
Environment=PATH={{.GetPathEnvWithSystemDefaults}}
Environment=CONFIG={{.GetPackagePath "${name}" "${name}" "part-0"}}

[Install]
WantedBy=multi-user.target
`,
})
