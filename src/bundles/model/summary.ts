// What a bundle holds, for people and programs. Sorted by kind and name, never null.
import * as z from 'zod'

const json = z.json()

const sourceRangeSchema = z.object({ file: z.string(), line: z.number().int(), column: z.number().int() })

export const problemSchema = z.object({
  code: z.templateLiteral([z.string(), '.', z.string()]),
  path: z.string(),
  reason: z.string(),
  hint: z.string().optional(),
  source: sourceRangeSchema.optional(),
})

export const targetSchema = z.object({ kind: z.string(), name: z.string().optional(), external: z.string().optional() })

const envUseSchema = z.object({
  resource: z.string().describe('Kind/name.'),
  path: z.string(),
  key: z.string(),
  type: z.string().optional(),
  value: json,
  default: json.optional(),
})

const summaryResourceSchema = z.object({
  apiVersion: z.string(),
  kind: z.string(),
  name: z.string(),
  displayName: z.string(),
  id: z.string().optional().describe('Absent while it is not on the platform.'),
  spec: z.record(z.string(), json),
  associations: z.array(targetSchema),
  envReferences: z.array(envUseSchema),
})

export const summarySchema = z.object({
  resources: z.array(summaryResourceSchema),
  associations: z.array(z.object({ from: targetSchema, to: targetSchema })),
  missingEnvRefs: z.array(z.string()),
  missingSecrets: z.array(z.string()),
  sources: z.array(z.string()),
})
export type Summary = z.infer<typeof summarySchema>
