// Ties units to the files below /etc that they read: a hash of each goes into the unit, so that a changed file is a
// changed unit. Without a word from the config, the paths that a unit names are taken for what it reads.
import type { Problem } from '../../lib/problem.ts'
import type { UnitConfig } from '../../resources/overlay-config.ts'
import { byName, type EtcTarget, type Sha256, type UnitName } from '../names.ts'
import { canReload, type EffectiveUnit, mergeTexts, textsInOrder } from './effective.ts'
import { isWithoutEffect, reloadTriggers, restartTriggers } from './keys.ts'
import { parseUnit } from './parse.ts'
import { cannotReload, unknownTrigger } from './problems.ts'
import { typeOf } from './unit-name.ts'

/** Of all that is managed below /etc. */
export interface EtcHashes {
  has(target: EtcTarget): boolean
  get(target: EtcTarget): Sha256 | undefined
  keys(): Iterable<EtcTarget>
}

export interface TriggeredUnit {
  readonly name: UnitName
  /** Of the base; the triggers are written into it. */
  readonly text: string
  /** File name -> text. */
  readonly dropIns?: Readonly<Record<string, string>>
  readonly config: Pick<UnitConfig, 'restartOn' | 'reloadOn' | 'triggers'>
  /** In the config: `systemdUnitsByName.web`. */
  readonly path: string
}

export function withTriggers(unit: TriggeredUnit, etc: EtcHashes): { text: string; problems: Problem[] } {
  const { name, text, dropIns = {}, config, path } = unit
  const effective = mergeTexts({ name, base: 'here', texts: textsInOrder(name, text, dropIns) })
  const { restartOn = [], reloadOn = [] } = config
  const problems = [
    ...unknownTargets(restartOn, `${path}.restartOn`, etc),
    ...unknownTargets(reloadOn, `${path}.reloadOn`, etc),
  ]
  if (reloadOn.length > 0 && !canReload(effective))
    problems.push(cannotReload({ path: `${path}.reloadOn` }, name, 'reloadOn'))
  if (problems.length > 0) return { text, problems }

  const explicit = restartOn.length + reloadOn.length > 0
  const named = explicit || config.triggers === 'none' ? [] : namedTargets(effective, etc)
  const reloads = canReload(effective)
  const lines = [
    ...triggerLines(restartTriggers, [...restartOn, ...(reloads ? [] : named)], etc),
    ...triggerLines(reloadTriggers, [...reloadOn, ...(reloads ? named : [])], etc),
  ]
  return { text: lines.length ? intoUnitSection(text, lines) : text, problems }
}

/** The targets whose hash differs between two lists of trigger values; none when the values are not of our making. */
export function changedTargets(before: readonly string[], after: readonly string[]): string[] {
  const differing = [...new Set(before).symmetricDifference(new Set(after))].filter(value => value !== '')
  const targets = differing.map(value => /^(.+):[0-9a-f]{16}$/.exec(value)?.[1])
  return targets.includes(undefined) ? [] : [...new Set(targets as string[])].sort(byName)
}

function unknownTargets(targets: readonly string[], path: string, etc: EtcHashes): Problem[] {
  return targets.flatMap((target, index) =>
    etc.has(target as EtcTarget) ? [] : [unknownTrigger({ path: `${path}[${index}]` }, target, etc.keys())],
  )
}

/** Managed targets that stand in a value as a whole path, or that are a directory on the way to one. */
function namedTargets(unit: EffectiveUnit, etc: EtcHashes): string[] {
  if (typeOf(unit.name) === 'path') return [] // watches the files by itself
  const found = new Set<string>()
  for (const [section, keys] of unit.sections)
    for (const [key, values] of keys)
      if (!isWithoutEffect(section, key))
        for (const value of values)
          for (const target of pathsBelowEtc(value)) if (isTrigger(target, etc)) found.add(target)
  return [...found]
}

const isTrigger = (target: string, etc: EtcHashes) =>
  etc.has(target as EtcTarget) && !target.startsWith('systemd/system/')

/** Every reading of every /etc/… in a value: up to the next space or quote, cut at each slash and each separator. */
function* pathsBelowEtc(value: string): Generator<string> {
  for (const [, run] of value.matchAll(/(?<![\w./~}-])-?\/etc\/(?=([^\s"'`]{1,4096}))/g)) {
    yield run!
    for (const { index } of run!.matchAll(/[/:;,|&<>(){}]/g)) yield run!.slice(0, index)
  }
}

function triggerLines(key: string, targets: readonly string[], etc: EtcHashes): string[] {
  return [...new Set(targets)]
    .sort(byName)
    .map(target => `${key}=${target}:${etc.get(target as EtcTarget)!.slice(0, 16)}`)
}

/** Directly below the header of [Unit]; with a section of its own before the first one where there is none. */
function intoUnitSection(text: string, added: readonly string[]): string {
  const body = text.replace(/^\uFEFF/, '')
  const { sections } = parseUnit(body, { path: '' }).unit
  const lines = body.split(/(?<=\n|\r(?!\n))/)
  const written = added.map(line => `${line}\n`)
  const header = sections.find(
    ({ name, line }) => name === 'Unit' && /^[ \t]*\[Unit\]\s*[\r\n]$/.test(lines[line - 1]!),
  )
  if (header) lines.splice(header.line, 0, ...written)
  else lines.splice((sections[0]?.line ?? 1) - 1, 0, '[Unit]\n', ...written)
  return lines.join('')
}
