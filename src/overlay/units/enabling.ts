// What `systemctl enable` and `mask` would do to the units of a config, as entries below systemd/system. Wants links
// lead through static like any file (systemd reads only their names); aliases and masks are links with a text of their
// own, because systemd takes a link that leaves its search path for a unit by itself.
import type { Problem, Warning } from '../../lib/problem.ts'
import { byName, type UnitName } from '../names.ts'
import { lastValue, mergeTexts, textsInOrder, wordsOf } from './effective.ts'
import { aliasInvalid, alsoElsewhere, installName, specifierUnknown } from './problems.ts'
import { instanceOf, instantiate, isTemplate, isUnitFileName, prefixOf, templateOf, typeOf } from './unit-name.ts'

export interface Installable {
  readonly text: string
  /** File name -> text. */
  readonly dropIns?: Readonly<Record<string, string>>
  readonly enable: boolean
  readonly masked: boolean
  /** In the config: `systemdUnitsByName.web`. */
  readonly path: string
}

/** Paths are relative to systemd/system. A link entry shows the file of `unit`. */
type InstallEntry =
  | { readonly kind: 'link'; readonly path: string; readonly unit: UnitName }
  | { readonly kind: 'direct'; readonly path: string; readonly unit: UnitName; readonly text: string }

export interface Installation {
  /** Sorted by path. */
  readonly entries: readonly InstallEntry[]
  readonly problems: readonly Problem[]
  readonly warnings: readonly Warning[]
}

const linkKeys = { WantedBy: 'wants', RequiredBy: 'requires', UpheldBy: 'upholds' } as const
const aliasable = new Set(['service', 'socket', 'target', 'device', 'timer', 'path'])

export function installLinks(units: ReadonlyMap<UnitName, Installable>): Installation {
  const entries: InstallEntry[] = []
  const problems: Problem[] = []
  const warnings: Warning[] = []
  const enabled = new Set<UnitName>()

  const enable = (name: UnitName, source: UnitName, unit: Installable) => {
    if (unit.masked || enabled.has(name)) return
    enabled.add(name)
    const found = readInstall(name, source, unit)
    entries.push(...found.entries)
    problems.push(...found.problems)
    warnings.push(...found.warnings)
    for (const also of found.also) {
      const file = fileOf(units, also)
      if (file) enable(also, file, units.get(file)!)
      else warnings.push(alsoElsewhere({ path: unit.path }, also))
    }
  }
  for (const [name, unit] of units) {
    if (unit.masked) entries.push({ kind: 'direct', path: name, unit: name, text: '/dev/null' })
    else if (unit.enable) enable(name, name, unit)
  }
  return { entries: entries.sort((a, b) => byName(a.path, b.path)), problems, warnings }
}

/** The unit of the config that an instance comes from: itself, or its template. */
function fileOf(units: ReadonlyMap<UnitName, Installable>, name: UnitName): UnitName | undefined {
  return [name, templateOf(name)].find(file => file !== null && units.has(file)) ?? undefined
}

function readInstall(name: UnitName, source: UnitName, unit: Installable): Installation & { also: UnitName[] } {
  const where = { path: `${unit.path}.templateInline` }
  const entries = new Map<string, InstallEntry>()
  const problems: Problem[] = []
  const warnings: Warning[] = []
  const also: UnitName[] = []
  const { text, dropIns = {} } = unit
  const install = mergeTexts({ name, base: 'here', texts: textsInOrder(name, text, dropIns) })
  const instance = lastValue(install, 'Install', 'DefaultInstance')
  const linked = isTemplate(name) && instance ? instantiate(name, instance) : name

  for (const key of ['WantedBy', 'RequiredBy', 'UpheldBy', 'Alias', 'Also'] as const)
    for (const value of wordsOf(install, 'Install', key)) {
      const other = expand(value, linked)
      if (other === null) warnings.push(specifierUnknown(where, { key, value }))
      else if (!isUnitFileName(other)) problems.push(installName(where, { key, value }))
      else if (key === 'Also') also.push(other)
      else if (key === 'Alias') {
        const reason = whyNoAlias(other, source)
        if (reason) problems.push(aliasInvalid(where, { alias: other, reason }))
        else if (other !== source) entries.set(other, { kind: 'direct', path: other, unit: source, text: source })
      } else if (!isTemplate(linked) || isTemplate(other)) {
        const path = `${other}.${linkKeys[key]}/${linked}`
        entries.set(path, { kind: 'link', path, unit: source })
      }
    }
  return { entries: [...entries.values()], problems, warnings, also }
}

/** Null when a specifier is not one of those that the name alone answers. */
function expand(value: string, unit: UnitName): string | null {
  const prefix = prefixOf(unit)
  const known: Record<string, string> = {
    '%': '%',
    n: unit,
    N: unit.slice(0, unit.lastIndexOf('.')),
    p: prefix,
    j: prefix.slice(prefix.lastIndexOf('-') + 1),
    i: instanceOf(unit) ?? '',
  }
  const expanded = value.replace(/%(.?)/g, (_, specifier: string) => known[specifier] ?? '\0')
  return expanded.includes('\0') ? null : expanded
}

function whyNoAlias(alias: UnitName, source: UnitName): string | null {
  const type = typeOf(source)
  if (typeOf(alias) !== type) return `its suffix is not .${type}`
  if (!aliasable.has(type)) return `a ${type} cannot have an alias`
  const [from, to] = [instanceOf(alias), instanceOf(source)]
  const fits = from === to || (from !== null && to === '')
  return fits ? null : `an alias of ${source} must be ${to === null ? 'a plain name' : 'of its kind'}`
}
