// Prepare: from a config to states in the store. Source packages, then units, then the etc overlay that ties them together.
// Nothing that runs is touched. A second time with the same config writes nothing.
import { join } from 'node:path'
import { writeDurably } from '../lib/durable.ts'
import { ProblemsError } from '../lib/errors.ts'
import type { Warning } from '../lib/problem.ts'
import type { OverlayConfig } from '../resources/overlay-config.ts'
import { type ConfigText, type ReadConfig, readOverlayConfig } from './config/read.ts'
import type { NodeContext } from './context.ts'
import { guardStates } from './guard-states.ts'
import { makeLayout } from './layout.ts'
import type { StateName } from './names.ts'
import { overlayPackage, type SourceRules, sourcePackages, statesOf, unitPackages } from './packages/of-config.ts'
import { dedupStates } from './store/dedup.ts'
import { makeReserve } from './store/gc/reserve.ts'
import { installAll, type Store } from './store/install.ts'
import type { InstalledPackage, Package } from './store/package.ts'

export interface PrepareOptions extends SourceRules {
  /** Link equal files of the store to one another. */
  readonly dedup?: boolean
  readonly command: string
}

export interface Prepared {
  readonly config: OverlayConfig
  readonly etcState: StateName
  /** Sources, units, etc overlay. */
  readonly installed: readonly InstalledPackage[]
  readonly warnings: readonly Warning[]
  readonly savedBytes: number
  /** Until then no collection takes the new states, though no generation has them yet. */
  release(): void
}

export async function prepare(context: NodeContext, input: ConfigText, options: PrepareOptions): Promise<Prepared> {
  const { files, layout } = context
  const read = readOverlayConfig(input)
  const { config } = read
  const sources = sourcePackages(context, read, options)
  makeLayout(files, layout)

  const warnings: Warning[] = [...read.warnings, ...sources.warnings]
  const guard = guardStates(context, options.command)
  const store: Store = {
    files,
    layout,
    content: context.content,
    progress: context.progress,
    signal: new AbortController().signal,
    protect: guard.protect,
    warn: warning => warnings.push(warning),
  }
  const install = (packages: readonly Package[]) => installLocated(read, store, packages)
  try {
    const installedSources = await install([...sources.packages.values()])
    const states = statesOf(sources.packages)
    const units = unitPackages(context, config, states)
    const installedUnits = await install([...units.packages.values()])
    const unitStates = statesOf(units.packages)
    const overlay = overlayPackage(context, config, { units: units.rendered, states, unitStates })
    const [etc] = (await install([overlay.package])) as [InstalledPackage]
    saveConfig(context, config)
    makeReserve(files, layout)

    const installed = [...installedSources, ...installedUnits, etc]
    const names = installed.map(({ state }) => state)
    return {
      config,
      etcState: etc.state,
      installed,
      warnings: read.locate(warnings),
      savedBytes: options.dedup ? dedupStates(files, layout, names).savedBytes : 0,
      release: guard.release,
    }
  } catch (error) {
    guard.release()
    throw error
  }
}

/** Problems found while installing get their place in the file, like all others. */
async function installLocated(
  read: ReadConfig,
  store: Store,
  packages: readonly Package[],
): Promise<InstalledPackage[]> {
  try {
    return await installAll(store, packages)
  } catch (error) {
    throw error instanceof ProblemsError ? new ProblemsError(read.locate(error.problems)) : error
  }
}

/** Written only when it differs, so that a second prepare writes nothing. */
function saveConfig({ files, layout }: NodeContext, config: OverlayConfig) {
  const path = join(layout.configs, `${config.version}.json`)
  const text = `${JSON.stringify(config, null, 2)}\n`
  if (files.lstat(path) && files.readFile(path).toString('utf8') === text) return
  writeDurably(files, path, text)
}
