// The rules of an OverlayConfig that span fields: names, references between packages and units, templates, targets. Everything
// that can be known before a byte is fetched is checked here, with stand-ins for the states. Touches nothing.
import { durationOrProblem } from '../../lib/duration.ts'
import { fieldPath } from '../../lib/located-json.ts'
import type { Problem, Warning } from '../../lib/problem.ts'
import { didYouMean } from '../../lib/suggest.ts'
import type { OverlayConfig } from '../../resources/overlay-config.ts'
import { etcEntries } from '../etc-entries.ts'
import type { EtcTarget, Sha256, StateName } from '../names.ts'
import { packageCycles } from '../package-order.ts'
import { renderUnits } from '../render-units.ts'

export function checkConfig(config: OverlayConfig): { problems: Problem[]; warnings: Warning[] } {
  const packages = Object.keys(config.packageByNames ?? {})
  const rendered = renderUnits(config, standIns, everyTarget(config))
  const etc = etcEntries(config, rendered.units, {
    ofPackage: standInState,
    ofUnit: name => standInState(`${name}-unit`),
  })
  return {
    problems: [
      ...nameProblem(config.version, 'version'),
      ...packages.flatMap(name => nameProblem(name, fieldPath('packageByNames', name))),
      ...versionProblems(config),
      ...unknownPackages(config),
      ...packageCycles(config),
      ...checkProblems(config),
      ...rendered.problems,
      ...etc.problems,
    ],
    warnings: [...rendered.warnings, ...etc.warnings],
  }
}

const namePattern = /^[A-Za-z0-9][A-Za-z0-9._+-]{0,127}(?<!\.)$/

function nameProblem(name: string, path: string): Problem[] {
  if (namePattern.test(name)) return []
  const rule = 'up to 128 letters, digits and . _ + -, beginning with a letter or digit, not ending in a dot'
  return [{ code: 'name.invalid', path, reason: `${JSON.stringify(name.slice(0, 140))} is not a name: ${rule}` }]
}

function versionProblems({ packageByNames = {}, systemdUnitsByName = {} }: OverlayConfig): Problem[] {
  const sections = { packageByNames, systemdUnitsByName }
  return Object.entries(sections).flatMap(([section, entries]) =>
    Object.entries(entries).flatMap(([name, { version }]) =>
      /^[^\p{Cc}\p{Cs}]{0,128}$/u.test(version)
        ? []
        : [
            {
              code: 'version.invalid' as const,
              path: `${fieldPath(section, name)}.version`,
              reason: 'a version is printable text of up to 128 characters',
            },
          ],
    ),
  )
}

function unknownPackages({ packageByNames = {}, systemdUnitsByName = {} }: OverlayConfig): Problem[] {
  const known = Object.keys(packageByNames)
  const sections: Record<string, Record<string, { packages?: string[] | undefined }>> = {
    packageByNames,
    systemdUnitsByName,
  }
  return Object.entries(sections).flatMap(([section, entries]) =>
    Object.entries(entries).flatMap(([name, { packages = [] }]) =>
      packages.flatMap((wanted, index) => {
        if (Object.hasOwn(packageByNames, wanted)) return []
        const path = fieldPath(`${fieldPath(section, name)}.packages`, index)
        const hint = didYouMean(wanted, known)
        return [
          { code: 'package.unknown' as const, path, reason: `there is no package "${wanted}"`, ...(hint && { hint }) },
        ]
      }),
    ),
  )
}

function checkProblems({ checks = [] }: OverlayConfig): Problem[] {
  return checks.flatMap((check, index) => {
    const path = fieldPath('checks', index)
    const within = durationOrProblem(check.within ?? '0s', `${path}.within`)
    const hold = durationOrProblem(('for' in check && check.for) || '0s', `${path}.for`)
    const isAddress = !('http' in check) || /^https?:$/.test(URL.parse(check.http)?.protocol ?? '')
    return [
      ...[within, hold].filter(found => typeof found !== 'number'),
      ...(isAddress
        ? []
        : [{ code: 'value.invalid' as const, path: `${path}.http`, reason: 'must be an http or https URL' }]),
    ]
  })
}

const standInState = (name: string) => `${name}-${'a'.repeat(52)}` as StateName

const standIns = {
  path: (name: string, ...parts: string[]) => ['/cairn/states', standInState(name), ...parts].join('/'),
  binPath: (name: string) => `/cairn/states/${standInState(name)}/bin`,
}

/** Which targets there are; what is in them is not known yet. */
function everyTarget({ packageByNames = {} }: OverlayConfig): Map<EtcTarget, Sha256> {
  const unknown = '0'.repeat(64) as Sha256
  return new Map(
    Object.values(packageByNames).flatMap(({ etcFiles = [] }) =>
      etcFiles.map(({ target }) => [target as EtcTarget, unknown] as const),
    ),
  )
}
