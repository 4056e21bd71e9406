// The packages of a config, in the three steps in which they can be known: sources from the text alone, units once the sources
// are installed (a template may ask whether a package has programs), the etc overlay once the units have their names.
import { join } from 'node:path'
import { ProblemsError } from '../../lib/errors.ts'
import { fieldPath } from '../../lib/located-json.ts'
import type { Warning } from '../../lib/problem.ts'
import type { OverlayConfig } from '../../resources/overlay-config.ts'
import type { ReadConfig } from '../config/read.ts'
import type { NodeContext } from '../context.ts'
import { etcEntries } from '../etc-entries.ts'
import { seenStatePath, statePath } from '../layout.ts'
import type { EtcTarget, Sha256, StateName, UnitName } from '../names.ts'
import { packageOrder } from '../package-order.ts'
import { type RenderedUnit, renderUnits } from '../render-units.ts'
import { stateNameOf } from '../store/fingerprint.ts'
import type { Package } from '../store/package.ts'
import { sourcePackage } from '../store/source.ts'
import type { EtcHashes } from '../units/triggers.ts'
import { storeContents } from './contents.ts'
import { etcOverlayPackage } from './etc-overlay.ts'
import { unitPackage } from './unit.ts'

export interface SourceRules {
  /** Where relative paths of `file` sources start. */
  readonly baseDirectory: string
  readonly requireChecksums?: boolean
}

export type PackageStates = ReadonlyMap<string, StateName>

/** Every problem of the config and of its sources, in one answer. */
export function sourcePackages(
  { files }: NodeContext,
  read: ReadConfig,
  { baseDirectory, requireChecksums = false }: SourceRules,
): { packages: Map<string, Package>; warnings: Warning[] } {
  const packages = new Map<string, Package>()
  const warnings: Warning[] = []
  const problems = [...read.problems]
  const { packageByNames = {} } = read.config
  for (const name of packageOrder(read.config)) {
    const config = packageByNames[name]!
    const declaredAt = fieldPath('packageByNames', name)
    const source = sourcePackage({ files, name, config, declaredAt, baseDirectory, requireChecksums })
    const references = (config.packages ?? []).flatMap(needed => packages.get(needed) ?? []).map(stateNameOf)
    problems.push(...read.locate(source.problems))
    warnings.push(...source.warnings)
    if (source.package) packages.set(name, { ...source.package, references })
  }
  if (problems.length > 0) throw new ProblemsError(problems)
  return { packages, warnings }
}

export interface UnitPackages {
  readonly rendered: readonly RenderedUnit[]
  readonly packages: ReadonlyMap<UnitName, Package>
  readonly warnings: readonly Warning[]
}

/** The sources are installed. */
export function unitPackages(
  { files, layout }: NodeContext,
  config: OverlayConfig,
  states: PackageStates,
): UnitPackages {
  const places = {
    path: (name: string, ...parts: string[]) => join(seenStatePath(layout, states.get(name)!), ...parts),
    binPath: (name: string) => {
      const state = states.get(name)!
      const hasPrograms = files.lstat(join(statePath(layout, state), 'bin'))?.isDirectory()
      return hasPrograms ? `${seenStatePath(layout, state)}/bin` : null
    },
  }
  const { units, problems, warnings } = renderUnits(config, places, etcHashes({ files, layout }, config, states))
  if (problems.length > 0) throw new ProblemsError(problems)
  const packageOf = ({ name, config: { version, packages = [] }, text, dropIns }: RenderedUnit) =>
    unitPackage(layout, {
      name,
      version,
      texts: { [name]: text, ...prefixed(dropIns, `${name}.d/`) },
      packages: [...new Set(packages)].map(needed => states.get(needed)!),
    })
  return { rendered: units, packages: new Map(units.map(unit => [unit.name, packageOf(unit)])), warnings }
}

/** Read only for the few targets that some unit asks about. One that is missing is reported when the overlay is built. */
function etcHashes(
  { files, layout }: Pick<NodeContext, 'files' | 'layout'>,
  config: OverlayConfig,
  states: PackageStates,
): EtcHashes {
  const sources = new Map(
    Object.entries(config.packageByNames ?? {}).flatMap(([name, { etcFiles = [] }]) =>
      etcFiles.map(({ source, target }) => [target as EtcTarget, { state: states.get(name)!, source }] as const),
    ),
  )
  const contents = storeContents(files, layout)
  return {
    has: target => sources.has(target),
    keys: () => sources.keys(),
    get: target => {
      const place = sources.get(target)
      return place && files.lstat(join(statePath(layout, place.state), place.source))
        ? contents.hashOf(place)
        : ('0'.repeat(64) as Sha256)
    },
  }
}

/** The units have their states. */
export function overlayPackage(
  { layout }: NodeContext,
  config: OverlayConfig,
  {
    units,
    states,
    unitStates,
  }: { units: readonly RenderedUnit[]; states: PackageStates; unitStates: ReadonlyMap<UnitName, StateName> },
): { package: Package; warnings: readonly Warning[] } {
  const { entries, warnings } = etcEntries(config, units, {
    ofPackage: name => states.get(name)!,
    ofUnit: name => unitStates.get(name)!,
  })
  const reach = new Map(
    Object.entries(config.packageByNames ?? {}).map(([name, { packages = [] }]) => [
      states.get(name)!,
      packages.map(needed => states.get(needed)!),
    ]),
  )
  return { package: etcOverlayPackage(layout, { entries, reach }), warnings }
}

export const statesOf = <K>(packages: ReadonlyMap<K, Package>): Map<K, StateName> =>
  new Map([...packages].map(([name, pkg]) => [name, stateNameOf(pkg)]))

const prefixed = (texts: Readonly<Record<string, string>>, prefix: string) =>
  Object.fromEntries(Object.entries(texts).map(([path, text]) => [`${prefix}${path}`, text]))
