import * as z from 'zod'
import { defineKind } from '../kind.ts'

export const label = defineKind({
  kind: 'Label',
  summary: 'a mark that other resources carry',
  description: [
    'Other resources are associated with labels; lists, exports and rollouts select by them. Deleting a label takes it off everything.',
  ],
  displayName: { unique: true, least: 2, most: 255 },
  associations: [],
  spec: z.strictObject({
    description: z.string().optional().describe('For people.'),
    color: z
      .string()
      .regex(/^#[0-9a-fA-F]{6}$/, 'is not a colour such as #2f6f4f')
      .optional()
      .describe('For the console.'),
  }),
  columns: [{ title: 'COLOR', value: ({ spec }) => String(spec.color ?? '') }],
  example: `apiVersion: cairn.dev/v1
kind: Label
metadata:
  name: edge
spec:
  description: Machines outside the data centre
  color: "#2f6f4f"
`,
})
