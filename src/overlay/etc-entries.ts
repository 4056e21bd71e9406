// Everything that a config puts below /etc, as entries: the etc files of its packages, its unit files with their drop-ins, and
// the links that enabling makes. Sorted out before anything is installed with stand-ins for the states, and again with the real ones.
import { fieldPath } from '../lib/located-json.ts'
import type { Problem, Warning } from '../lib/problem.ts'
import type { EtcFileConfig, OverlayConfig } from '../resources/overlay-config.ts'
import { checkProtected } from './etc/protected.ts'
import { checkTargets, parseMode, parseSource, parseTarget } from './etc/target.ts'
import { byName, type EtcTarget, type StateName, type UnitName } from './names.ts'
import type { WantedEntry } from './packages/etc-overlay.ts'
import type { RenderedUnit } from './render-units.ts'
import { installLinks } from './units/enabling.ts'

export interface EntryStates {
  ofPackage(name: string): StateName
  ofUnit(name: UnitName): StateName
}

export interface EtcEntries {
  readonly entries: readonly WantedEntry[]
  readonly problems: readonly Problem[]
  readonly warnings: readonly Warning[]
}

export function etcEntries(config: OverlayConfig, units: readonly RenderedUnit[], states: EntryStates): EtcEntries {
  const fromPackages = Object.entries(config.packageByNames ?? {})
    .sort(([a], [b]) => byName(a, b))
    .flatMap(([name, { etcFiles = [] }]) => {
      const path = `${fieldPath('packageByNames', name)}.etcFiles`
      return etcFiles.map((file, index) => packageEntry(name, file, fieldPath(path, index), states))
    })
  const declared = fromPackages.flatMap(({ entry }) => entry ?? [])
  const { entries: links, problems, warnings } = enablingEntries(units, states)
  const entries = [...declared, ...units.flatMap(unit => unitEntries(unit, states)), ...links]
  return {
    entries,
    problems: [
      ...fromPackages.flatMap(found => found.problems),
      ...problems,
      ...checkTargets(entries),
      ...checkProtected(declared),
    ],
    warnings,
  }
}

function packageEntry(
  name: string,
  file: EtcFileConfig,
  declaredAt: string,
  states: EntryStates,
): { entry: WantedEntry | null; problems: Problem[] } {
  const { source, owner, group, replaceExisting, allowProtected } = file
  const problems: Problem[] = []
  const target = parseTarget(file.target, `${declaredAt}.target`)
  const sourcePath = parseSource(source, `${declaredAt}.source`)
  const mode =
    file.mode === undefined
      ? 0o644
      : parseMode(file.mode, `${declaredAt}.mode`, { allowProtected: allowProtected === true })
  if (typeof sourcePath !== 'string') problems.push(sourcePath)
  if (typeof mode !== 'number') problems.push(mode)
  const needsCopy = file.mode !== undefined || owner !== undefined || group !== undefined
  if (file.kind === 'link' && needsCopy) problems.push(linkWithMode(declaredAt))
  if (typeof target !== 'string') return { entry: null, problems: [target, ...problems] }

  const base = {
    target,
    from: name,
    declaredAt,
    state: states.ofPackage(name),
    source,
    ...(replaceExisting && { replaceExisting }),
    ...(allowProtected && { allowProtected }),
  }
  const entry: WantedEntry =
    needsCopy || file.kind === 'copy'
      ? {
          ...base,
          kind: 'copy',
          mode: typeof mode === 'number' ? mode : 0o644,
          ...(owner && { owner }),
          ...(group && { group }),
        }
      : { ...base, kind: 'link' }
  return { entry, problems }
}

const targetOfUnit = (path: string) => `systemd/system/${path}` as EtcTarget

function unitEntries({ name, config, path, dropIns }: RenderedUnit, states: EntryStates): WantedEntry[] {
  const base = { kind: 'link', from: `unit ${name}`, declaredAt: path, state: states.ofUnit(name) } as const
  const files = [...(config.masked ? [] : [name]), ...Object.keys(dropIns).map(file => `${name}.d/${file}`)]
  return files.map(file => ({ ...base, target: targetOfUnit(file), source: file }))
}

function enablingEntries(units: readonly RenderedUnit[], states: EntryStates): EtcEntries {
  const byUnit = new Map(units.map(unit => [unit.name, unit]))
  const { entries, problems, warnings } = installLinks(
    new Map(
      units.map(({ name, text, dropIns, path, config: { enable = true, masked = false } }) => [
        name,
        { text, dropIns, path, enable, masked },
      ]),
    ),
  )
  const wanted = entries.map((entry): WantedEntry => {
    const base = {
      from: `unit ${entry.unit}`,
      declaredAt: byUnit.get(entry.unit)!.path,
      target: targetOfUnit(entry.path),
    }
    return entry.kind === 'link'
      ? { ...base, kind: 'link', state: states.ofUnit(entry.unit), source: entry.unit }
      : { ...base, kind: 'direct', text: entry.text }
  })
  return { entries: wanted, problems, warnings }
}

const linkWithMode = (path: string): Problem => ({
  code: 'etc.link-with-mode',
  path,
  reason: 'a link has no mode, owner or group of its own',
  hint: 'Leave out kind, or set kind: "copy".',
})
