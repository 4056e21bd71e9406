// What is wrong with a bundle, at its places; or what it holds.
import { ProblemsError } from '../../lib/errors.ts'
import { renderError, renderWarnings } from '../../lib/render.ts'
import type { Style } from '../../lib/style.ts'
import type { Validation } from '../bundle-commands.ts'
import type { ExitCode } from '../exit.ts'
import { counted } from './words.ts'

export const exitOfValidation = ({ problems }: Validation): ExitCode => (problems.length > 0 ? 3 : 0)

export function printValidation({ problems, warnings, summary }: Validation, style: Style): string {
  const said = renderWarnings(warnings, style)
  if (problems.length > 0) return [...said, renderError(new ProblemsError(problems), style)].join('\n')
  const { resources, missingEnvRefs, missingSecrets, sources } = summary
  const kinds = Map.groupBy(resources, ({ kind }) => kind)
  const needs = [
    ...missingEnvRefs.map(key => `Apply needs the value ${key}: --env ${key}=…`),
    ...missingSecrets.map(key => `Apply needs the secret ${key}: --secret ${key}`),
  ]
  return [
    ...said,
    style.paint('done', `Valid: ${counted(resources.length, 'resource')} in ${counted(sources.length, 'file')}.`),
    ...[...kinds].map(([kind, members]) => `  ${kind}  ${members.map(({ name }) => name).join(', ')}`),
    ...needs,
  ].join('\n')
}
