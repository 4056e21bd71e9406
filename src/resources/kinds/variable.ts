import * as z from 'zod'
import { data } from '../fields.ts'
import { defineKind } from '../kind.ts'

export const variable = defineKind({
  kind: 'Variable',
  summary: 'a named value for settings',
  description: [
    'Settings of instances refer to it with `{variableRef: {name: …}}`, which stands for its value wherever one may stand. It is not secret; secrets are given at apply and referred to with `secretRef`.',
  ],
  displayName: { unique: true, least: 1, most: 255 },
  spec: z.strictObject({
    description: z.string().optional().describe('For people.'),
    value: data().describe('Any data: text, a number, true or false, a list, a map.'),
  }),
  columns: [{ title: 'VALUE', value: ({ spec }) => shortText(spec.value) }],
  example: `apiVersion: cairn.dev/v1
kind: Variable
metadata:
  name: name-servers
spec:
  description: For every machine at home
  value: [192.0.2.1, 192.0.2.2]
`,
})

function shortText(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  return text.length > 40 ? `${text.slice(0, 39)}…` : text
}
