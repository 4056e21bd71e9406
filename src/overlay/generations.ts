// Generations: what was activated, numbered. Numbers are never used twice; `current` points to the one that runs.
import { basename, join } from 'node:path'
import { linkDurably, makeDirectories, removeTree, syncDirectory, writeDurably } from '../lib/durable.ts'
import { CairnError } from '../lib/errors.ts'
import type { Files } from '../lib/files.ts'
import { canonicalJson, type Json, sha256Hex } from '../lib/json.ts'
import type { OverlayConfig } from '../resources/overlay-config.ts'
import { type OwnedEtc, ownsNothing } from './etc/entry.ts'
import type { Layout } from './layout.ts'

/** `generations/<n>/manifest.json` */
export interface Generation extends OwnedEtc {
  readonly schema: 1
  readonly generation: number
  /** OverlayConfig.version */
  readonly version: string
  readonly createdAt: string
  /** Of the canonical config: an apply with an equal one makes no new generation. */
  readonly configSha256: string
}

/** Numbers of all generations on disk, ascending. */
export function generationNumbers(files: Files, layout: Layout): number[] {
  if (!files.lstat(layout.generations)) return []
  return files
    .readdir(layout.generations)
    .filter(name => /^[1-9]\d*$/.test(name))
    .map(Number)
    .sort((a, b) => a - b)
}

/** Null before the first apply and after uninstall. */
export function currentNumber(files: Files, layout: Layout): number | null {
  return files.lstat(layout.current)?.isSymbolicLink() ? Number(basename(files.readlink(layout.current))) : null
}

export function readGeneration(files: Files, layout: Layout, generation: number): Generation {
  const path = join(layout.generations, String(generation), 'manifest.json')
  try {
    return JSON.parse(files.readFile(path).toString('utf8')) as Generation
  } catch (cause) {
    throw new CairnError('generation.unreadable', `generation ${generation} has no readable manifest`, {
      hint: 'If it is the current one, cairn node recover makes it again; else apply its config again.',
      cause,
    })
  }
}

export function readGenerationOrNothing(files: Files, layout: Layout, generation: number | null): OwnedEtc {
  return generation === null ? ownsNothing : readGeneration(files, layout, generation)
}

export function readConfigOf(files: Files, layout: Layout, generation: number): OverlayConfig {
  const path = join(layout.generations, String(generation), 'config.json')
  return JSON.parse(files.readFile(path).toString('utf8')) as OverlayConfig
}

export const hashOfConfig = (config: OverlayConfig) => sha256Hex(canonicalJson(config as Json))

/** Takes the next number for good: a counter file that outlives the generations themselves. */
export function takeNumber(files: Files, layout: Layout): number {
  const counter = join(layout.generations, 'counter')
  const last = files.lstat(counter) ? Number.parseInt(files.readFile(counter).toString('utf8'), 10) || 0 : 0
  const highest = generationNumbers(files, layout).at(-1) ?? 0
  const number = Math.max(last, highest) + 1
  writeDurably(files, counter, `${number}\n`)
  return number
}

export function writeGeneration(files: Files, layout: Layout, generation: Generation, config: OverlayConfig) {
  const directory = join(layout.generations, String(generation.generation))
  makeDirectories(files, directory)
  if (generation.etcState) linkDurably(files, join(directory, 'etc'), `../../states/${generation.etcState}/etc`)
  writeDurably(files, join(directory, 'config.json'), `${JSON.stringify(config, null, 2)}\n`)
  writeDurably(files, join(directory, 'manifest.json'), `${JSON.stringify(generation)}\n`)
  syncDirectory(files, layout.generations)
}

/** What Cairn owns in /etc changes with every switch, also with one back to an older generation. */
export function rewriteManifest(files: Files, layout: Layout, generation: number, owned: OwnedEtc) {
  const path = join(layout.generations, String(generation), 'manifest.json')
  writeDurably(files, path, `${JSON.stringify({ ...readGeneration(files, layout, generation), ...owned })}\n`)
}

/** `generations/<n>/report.json`: how the switch to it went; absent while it is under way. */
export interface GenerationReport {
  readonly outcome: 'healthy' | 'kept, unhealthy' | 'went back'
  readonly failed: readonly { readonly name: string; readonly reason: string }[]
  readonly at: string
}

export function writeReport(files: Files, layout: Layout, generation: number, report: GenerationReport) {
  const path = join(layout.generations, String(generation), 'report.json')
  writeDurably(files, path, `${JSON.stringify(report, null, 2)}\n`)
}

export function readReport(files: Files, layout: Layout, generation: number): GenerationReport | null {
  const path = join(layout.generations, String(generation), 'report.json')
  return files.lstat(path) ? (JSON.parse(files.readFile(path).toString('utf8')) as GenerationReport) : null
}

export function removeGeneration(files: Files, layout: Layout, generation: number) {
  removeTree(files, join(layout.generations, String(generation)))
}

export function setCurrent(files: Files, layout: Layout, generation: number) {
  linkDurably(files, layout.current, `generations/${generation}`)
}
