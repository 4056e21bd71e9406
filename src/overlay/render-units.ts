// Renders the units of a config: templates filled in, triggers written, drop-ins beside them. Done twice: once with stand-ins
// for the packages, to find everything that is wrong before anything is fetched, and once with the states that were installed.
import { fieldPath } from '../lib/located-json.ts'
import type { Problem, Warning } from '../lib/problem.ts'
import type { OverlayConfig, UnitConfig } from '../resources/overlay-config.ts'
import { byName, type UnitName } from './names.ts'
import { checkUnit } from './units/check.ts'
import { renderTemplate } from './units/template.ts'
import { type EtcHashes, withTriggers } from './units/triggers.ts'
import { isUnitFileName, unitNameOf } from './units/unit-name.ts'

/** What a template may know about packages. */
export interface PackagePlaces {
  /** The path that the machine sees. */
  path(name: string, ...parts: string[]): string
  /** Null for a package without a bin directory. */
  binPath(name: string): string | null
}

export interface RenderedUnit {
  readonly name: UnitName
  readonly config: UnitConfig
  /** In the config: `systemdUnitsByName.web`. */
  readonly path: string
  readonly text: string
  /** File name -> text. */
  readonly dropIns: Readonly<Record<string, string>>
}

export interface RenderedUnits {
  readonly units: readonly RenderedUnit[]
  readonly problems: readonly Problem[]
  readonly warnings: readonly Warning[]
}

export function renderUnits(config: OverlayConfig, places: PackagePlaces, etc: EtcHashes): RenderedUnits {
  const units: RenderedUnit[] = []
  const problems: Problem[] = []
  const warnings: Warning[] = []
  const seen = new Map<UnitName, string>()
  for (const [key, unit] of Object.entries(config.systemdUnitsByName ?? {}).sort(([a], [b]) => byName(a, b))) {
    const path = fieldPath('systemdUnitsByName', key)
    const name = unitNameOf(key, path)
    if (typeof name !== 'string') {
      problems.push(name)
      continue
    }
    if (seen.has(name)) problems.push(sameUnit(path, name, seen.get(name)!))
    seen.set(name, key)
    const rendered = renderOne({ name, config: unit, path }, places, etc)
    units.push(rendered.unit)
    problems.push(...rendered.problems)
    warnings.push(...rendered.warnings)
  }
  return { units, problems, warnings }
}

function renderOne(declared: Pick<RenderedUnit, 'name' | 'config' | 'path'>, places: PackagePlaces, etc: EtcHashes) {
  const { name, config, path } = declared
  const packages = templatePackages(config, places)
  const base = renderTemplate(config.templateInline, packages, { path: `${path}.templateInline` })
  const problems = [...base.problems]
  const dropIns: Record<string, string> = {}
  for (const [file, template] of Object.entries(config.dropIns ?? {}).sort(([a], [b]) => byName(a, b))) {
    const where = { path: fieldPath(`${path}.dropIns`, file) }
    if (!isDropInName(file)) problems.push(dropInName(where.path, file))
    const rendered = renderTemplate(template, packages, where)
    problems.push(...rendered.problems)
    dropIns[file] = rendered.text
  }
  if (problems.length > 0) return { unit: { ...declared, text: base.text, dropIns }, problems, warnings: [] }

  const checked = checkUnit({ name, text: base.text, dropIns, path })
  const triggered = withTriggers({ name, text: base.text, dropIns, config, path }, etc)
  return {
    unit: { ...declared, text: triggered.text, dropIns },
    problems: [...checked.problems, ...triggered.problems],
    warnings: checked.warnings,
  }
}

function templatePackages({ packages = [] }: UnitConfig, places: PackagePlaces) {
  const declared = [...new Set(packages)].sort(byName)
  return {
    declared,
    path: places.path,
    binPaths: () => declared.flatMap(name => places.binPath(name) ?? []).sort(byName),
  }
}

const isDropInName = (file: string) =>
  /^[A-Za-z0-9][A-Za-z0-9._+-]{0,127}$/.test(file) && file.endsWith('.conf') && !isUnitFileName(file)

const sameUnit = (path: string, name: UnitName, other: string): Problem => ({
  code: 'unit.duplicate',
  path,
  reason: `${name} is declared a second time; the first is under the key "${other}"`,
})

const dropInName = (path: string, file: string): Problem => ({
  code: 'name.invalid',
  path,
  reason: `"${file}" is not the name of a drop-in: letters, digits and . _ + -, ending in .conf`,
})
