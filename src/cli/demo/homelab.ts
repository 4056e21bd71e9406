// The machines of the demo: the configs of examples/homelab, read and checked before anything is laid out.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { CairnError, ProblemsError } from '../../lib/errors.ts'
import { readOverlayConfig } from '../../overlay/config/read.ts'
import type { OverlayConfig } from '../../resources/overlay-config.ts'

export interface Homelab {
  /** Of Cairn itself: where bin/ and examples/ are. */
  readonly home: string
  readonly machines: readonly DemoMachine[]
}

export interface DemoMachine {
  readonly name: string
  /** As a person would name it from here. */
  readonly file: string
  readonly text: string
  readonly config: OverlayConfig
  /** What its checks ask over HTTP. */
  readonly urls: readonly URL[]
}

const names = ['atlas', 'borea', 'cleo'] as const

/** Throws a ProblemsError with all that is wrong in any of them. */
export function readHomelab(): Homelab {
  const home = findHome(dirname(fileURLToPath(import.meta.url)))
  const read = names.map(name => {
    const file = fromHere(join(home, 'examples/homelab/overlays', `${name}.json`))
    const text = readFileSync(file, 'utf8')
    return { name, file, text, ...readOverlayConfig({ file, text }) }
  })
  const problems = read.flatMap(machine => machine.problems)
  if (problems.length > 0) throw new ProblemsError(problems)
  return {
    home,
    machines: read.map(({ name, file, text, config }) => ({ name, file, text, config, urls: urlsOf(config) })),
  }
}

/** The way that a person in this directory would take: relative where that leads down. */
export function fromHere(path: string): string {
  const way = relative(process.cwd(), path)
  return way.startsWith('..') ? path : way
}

/** Up from the sources or from the bundle. */
function findHome(directory: string): string {
  if (existsSync(join(directory, 'examples/homelab'))) return directory
  if (dirname(directory) === directory)
    throw new CairnError('demo.no-examples', 'examples/homelab is not where Cairn is installed', {
      hint: 'Install the package again, or run the demo from a checkout.',
    })
  return findHome(resolve(directory, '..'))
}

function urlsOf({ checks = [] }: OverlayConfig): URL[] {
  return checks.flatMap(check => ('http' in check && URL.canParse(check.http) ? [new URL(check.http)] : []))
}
