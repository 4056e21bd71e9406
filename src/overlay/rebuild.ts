// How a damaged state can be had again: from the configs that the generations keep. Sources are known at once; units and the
// etc overlay follow when they are asked for, because a template may look into a package that was mended just before.
import { ProblemsError } from '../lib/errors.ts'
import type { OverlayConfig } from '../resources/overlay-config.ts'
import { readOverlayConfig } from './config/read.ts'
import type { NodeContext } from './context.ts'
import { generationNumbers, readConfigOf } from './generations.ts'
import type { StateName } from './names.ts'
import { overlayPackage, sourcePackages, statesOf, unitPackages } from './packages/of-config.ts'
import { stateNameOf } from './store/fingerprint.ts'
import type { Package } from './store/package.ts'
import type { Rebuild } from './store/repair.ts'

export function rebuilder(context: NodeContext): Rebuild {
  const { files, layout } = context
  const configs = generationNumbers(files, layout).map(number => readConfigOf(files, layout, number))
  const known = configs.map(config => ({ config, sources: sourcesOf(context, config) }))
  return ({ state, kind }) => {
    for (const { config, sources } of known.toReversed()) {
      const found = kind === 'source' ? find(sources.values(), state) : builtFrom(context, config, sources, state)
      if (found) return found
    }
    return null
  }
}

/** A source whose file is gone since takes its whole config out; what another config still describes can be had. */
function sourcesOf(context: NodeContext, config: OverlayConfig): ReadonlyMap<string, Package> {
  const read = readOverlayConfig({ file: config.version, text: JSON.stringify(config) })
  try {
    return sourcePackages(context, read, { baseDirectory: '/' }).packages
  } catch (error) {
    if (error instanceof ProblemsError) return new Map()
    throw error
  }
}

function builtFrom(
  context: NodeContext,
  config: OverlayConfig,
  sources: ReadonlyMap<string, Package>,
  state: StateName,
) {
  if (sources.size === 0 && Object.keys(config.packageByNames ?? {}).length > 0) return null
  const states = statesOf(sources)
  const { rendered, packages } = unitPackages(context, config, states)
  const overlay = overlayPackage(context, config, { units: rendered, states, unitStates: statesOf(packages) })
  return find([...packages.values(), overlay.package], state)
}

function find(packages: Iterable<Package>, state: StateName): Package | null {
  for (const pkg of packages) if (stateNameOf(pkg) === state) return pkg
  return null
}
