// docs/kinds.md: for each kind its fields, its status and an example, from the same value as everything else about it.
import { describeFields, type FieldAbout } from '../src/resources/describe-fields.ts'
import type { DisplayName, Kind } from '../src/resources/kind.ts'
import { kinds } from '../src/resources/kinds/all.ts'
import { metadataSchema } from '../src/resources/metadata.ts'
import { madeFrom } from './made-from.ts'

export function kindsPage(): string {
  return [
    madeFrom('src/resources/kinds/'),
    '# Kinds\n',
    'What a bundle may hold. Every resource has `apiVersion` (default `cairn.dev/v1`), `kind`, `metadata` and `spec`:\n',
    fieldTable([
      ...describeFields(metadataSchema, 'metadata.'),
      { path: 'spec.name', type: 'text', about: 'Display name on the platform; default `metadata.name`.' },
      {
        path: 'spec.associations',
        type: 'set',
        about: 'What it carries: `{kind: Label, name}` or `{kind: Label, external}`.',
      },
    ]),
    'For any scalar, `{envRef: {key, default?, type?}}` may stand: the value is given at plan and apply. A reference is `{name}` (a resource of the bundle by `metadata.name`) or `{external}` (a live one by display name). A secret is `{secretRef: {key}}`; its value is given at apply and never stands in a bundle. `cairn schema KIND` prints the JSON Schema, `cairn schema Bundle` that of all kinds, for editors.\n',
    'A status is written by Cairn and left out when a document is applied. Each of its conditions is `{type, status, reason, message, lastTransitionTime}`.\n',
    ...kinds.map(kindSection),
  ].join('\n')
}

function kindSection(kind: Kind): string {
  const { summary, description, displayName, associations, destroysData, spec, status, example } = kind
  return [
    `## ${kind.kind}\n`,
    `${summary[0]?.toUpperCase()}${summary.slice(1)}.\n`,
    ...description.map(paragraph => `${paragraph}\n`),
    [
      `- Display name: ${displayNameRule(displayName)}.`,
      `- Can be associated with: ${associations.join(', ') || 'nothing'}.`,
      ...(destroysData ? ['- Deleting one loses data: apply asks for `--allow-data-loss`.'] : []),
      '',
    ].join('\n'),
    fieldTable(describeFields(spec)),
    ...(status
      ? ['Status:\n', fieldTable(describeFields(status).filter(({ path }) => !path.startsWith('conditions[]')))]
      : []),
    ['```yaml', example.trimEnd(), '```\n'].join('\n'),
  ].join('\n')
}

function displayNameRule({ unique, least, most, pattern }: DisplayName): string {
  const length = `${least} to ${most} characters`
  return [unique ? 'unique' : 'need not be unique', pattern ? `${length}, \`${cell(pattern.source)}\`` : length].join(
    ', ',
  )
}

const fieldTable = (fields: readonly FieldAbout[]): string =>
  [
    '| field | type | default | meaning |',
    '|---|---|---|---|',
    ...fields.map(
      ({ path, type, required, fallback, about }) =>
        `| \`${path}\` | ${cell(type)} | ${required ? 'required' : fallback === undefined ? '' : `\`${cell(fallback)}\``} | ${cell(about)} |`,
    ),
    '',
  ].join('\n')

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ')
