// The record of what a bundle made. Changed only after side effects; `revision` counts every write of it.
import * as z from 'zod'
import { lifecycleSchema } from '../../resources/metadata.ts'
import { countsSchema } from './plan.ts'
import { problemSchema } from './summary.ts'

export const stackResourceSchema = z.object({
  apiVersion: z.string(),
  kind: z.string(),
  name: z.string(),
  id: z.string(),
  associations: z.array(z.object({ kind: z.string(), name: z.string().optional(), external: z.string().optional() })),
  lifecycle: lifecycleSchema,
  adopted: z.boolean(),
  /** Canonical, with the display name as `name`; references as the bundle wrote them. Left out of lists. */
  lastApplied: z.record(z.string(), z.json()).optional(),
  envRefs: z.array(
    z.object({
      path: z.string(),
      key: z.string(),
      type: z.string().optional(),
      value: z.json(),
      default: z.json().optional(),
    }),
  ),
  appliedAt: z.iso.datetime(),
})
export type StackResource = z.infer<typeof stackResourceSchema>

const stackStates = ['active', 'uninstalled', 'degraded'] as const

export const stackSchema = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
  revision: z.number().int(),
  state: z.enum(stackStates),
  config: z.object({
    urls: z.array(z.string()),
    reconcile: z.string().optional().describe('How often drift is corrected; absent: never.'),
  }),
  resources: z.array(stackResourceSchema),
  sources: z.array(z.string()),
  leftovers: z.array(problemSchema).optional().describe('What an incomplete undo left behind, while degraded.'),
})
export type Stack = z.infer<typeof stackSchema>

const stackEventTypes = [
  'create',
  'apply',
  'update',
  'import',
  'forget',
  'moved',
  'refresh',
  'uninstall',
  'rollback',
  'unlock',
] as const

export const stackEventSchema = z.object({
  seq: z.number().int(),
  type: z.enum(stackEventTypes),
  at: z.iso.datetime(),
  by: z.string(),
  planId: z.string().optional(),
  bundleHash: z.string().optional(),
  sources: z.array(z.string()),
  counts: countsSchema.optional(),
  changes: z.array(z.object({ action: z.string(), kind: z.string(), name: z.string(), id: z.string().optional() })),
  outcome: z.string().describe('One line for people.'),
})
export type StackEvent = z.infer<typeof stackEventSchema>

export const leaseSchema = z.object({
  holder: z.string(),
  operation: z.string(),
  since: z.iso.datetime(),
  expiresAt: z.iso.datetime(),
})
export type Lease = z.infer<typeof leaseSchema>
