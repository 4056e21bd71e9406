// All that can be wrong with a unit or its template, on one screen. Lines and columns are those of the text itself:
// a text with a file of its own has them as its source, an inline one says them in words.
import type { Problem, ProblemCode, Warning } from '../../lib/problem.ts'
import { didYouMean } from '../../lib/suggest.ts'
import type { UnitName } from '../names.ts'

/** Where a text was declared. */
export interface Where {
  /** In the config: `systemdUnitsByName.web.templateInline`. */
  readonly path: string
  readonly file?: string
}

export interface Spot extends Where {
  readonly line: number
  readonly column?: number
}

export const nameInvalid = (key: string, path: string): Problem => ({
  code: 'name.invalid',
  path,
  reason: `${JSON.stringify(key)} is not a unit name: up to 128 letters, digits and . _ - @ : \\, beginning with a letter, a digit or -, not ending in a dot`,
  hint: 'Other characters are written as systemd-escape writes them: \\x2b for +.',
})

export const unitEncoding = (spot: Spot, what: string): Problem => at(spot, 'unit.encoding', what)

export const unitSyntax = (spot: Spot, reason: string): Problem => at(spot, 'unit.syntax', reason)

export const ignoredLine = (spot: Spot, reason: string): Warning => at(spot, 'unit.ignored-line', reason)

export const unitEmpty = ({ path }: Where, name: UnitName): Problem => ({
  code: 'unit.empty',
  path,
  reason: `${name} has no section; systemd takes an empty unit for a masked one`,
  hint: 'To mask it, set masked: true.',
})

export const templateSyntax = (spot: Spot, reason: string, hint?: string): Problem =>
  at(spot, 'template.syntax', reason, hint)

export const undeclaredPackage = (spot: Spot, name: string, declared: readonly string[]): Problem =>
  at(
    spot,
    'template.undeclared-package',
    `the package ${JSON.stringify(name)} is not declared; declared: ${declared.join(', ') || 'none'}`,
    didYouMean(name, declared) ?? 'Add it to the packages of this unit.',
  )

export const pathEscapes = (spot: Spot, part: string): Problem =>
  at(spot, 'template.path-escapes', `${JSON.stringify(part)} does not stay inside the package`)

export const policyConflict = ({ path }: Where, reason: string): Problem => ({
  code: 'unit.policy-conflict',
  path,
  reason,
})

export const policyValue = ({ path }: Where, key: string, value: string, allowed: string): Problem => ({
  code: 'unit.policy-value',
  path,
  reason: `${key}=${value}: must be ${allowed}`,
})

export const cannotReload = ({ path }: Where, name: UnitName, asked: string): Problem => ({
  code: 'unit.cannot-reload',
  path,
  reason: `${asked} asks for a reload, but ${name} has neither ExecReload= nor Type=notify-reload`,
})

export const unknownTrigger = ({ path }: Where, target: string, targets: Iterable<string>): Problem => {
  const hint = didYouMean(target.replace(/^\/?etc\//, ''), targets)
  return {
    code: 'unit.unknown-trigger',
    path,
    reason: `no package puts anything at /etc/${target.replace(/^\/?etc\//, '')}`,
    ...(hint && { hint }),
  }
}

export const installName = ({ path }: Where, { key, value }: { key: string; value: string }): Problem => ({
  code: 'unit.install-name',
  path,
  reason: `${key}=${value}: not the name of a unit`,
  hint: 'Unit names carry their suffix: multi-user.target.',
})

export const aliasInvalid = ({ path }: Where, { alias, reason }: { alias: string; reason: string }): Problem => ({
  code: 'unit.alias-invalid',
  path,
  reason: `Alias=${alias}: ${reason}`,
})

export const alsoElsewhere = ({ path }: Where, also: string): Warning => ({
  code: 'unit.also-elsewhere',
  path,
  reason: `Also=${also} is not in this config and is not enabled`,
})

export const specifierUnknown = ({ path }: Where, { key, value }: { key: string; value: string }): Warning => ({
  code: 'unit.specifier',
  path,
  reason: `${key}=${value} has a specifier that is only known on a running machine; this link is not made`,
})

export const networkStop = (name: UnitName): Warning => ({
  code: 'unit.network-stop',
  path: `etc/systemd/system/${name}`,
  reason: `${name} brings up the network and is stopped for as long as a switch takes`,
  hint: 'X-StopIfChanged=false restarts it in place.',
})

export const typeWide = (type: string, files: readonly string[]): Warning => ({
  code: 'unit.type-wide',
  path: `etc/systemd/system/${type}.d`,
  reason: `${files.join(', ')} changes every ${type}; those that Cairn does not manage take it when they next start`,
})

function at({ path, file, line, column }: Spot, code: ProblemCode, reason: string, hint?: string): Problem {
  const place = column === undefined ? `line ${line}` : `line ${line}, column ${column}`
  return {
    code,
    path,
    reason: file === undefined ? `${place}: ${reason}` : reason,
    ...(hint && { hint }),
    ...(file !== undefined && { source: { file, line, column: column ?? 1 } }),
  }
}
