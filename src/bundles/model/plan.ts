// A plan: what an apply would do, and on what it rests. Binding: apply does exactly this, or refuses.
// It holds no secret value; printing it is the dry run.
import * as z from 'zod'
import { problemSchema, targetSchema } from './summary.ts'

const changeReasons = ['bundle', 'drift', 'both', 'default', 'secret'] as const

export const changeSchema = z.object({
  path: z.string().describe('spec.size, spec.name.'),
  old: z.json().optional().describe('What is live; absent when there was nothing.'),
  new: z.json().optional(),
  last: z.json().optional().describe('What was applied last; only where bundle and live both moved.'),
  why: z.enum(changeReasons),
  forcesReplacement: z.boolean().optional(),
})
export type Change = z.infer<typeof changeSchema>

export const actionWords = ['create', 'update', 'replace', 'adopt', 'forget', 'delete', 'none'] as const
export type ActionWord = (typeof actionWords)[number]

/** The closed list of reasons for an action. */
const actionReasons = [
  'new in the bundle',
  'deleted outside',
  'changed in the bundle',
  'drifted',
  'changed in both',
  'a secret changed',
  'an immutable field changed',
  'asked to adopt',
  'no longer in the bundle',
  'already gone',
  'retained',
  'asked to forget',
  'uninstall',
  'equal',
  'converged',
  'renamed',
  'skipped',
] as const

export const actionSchema = z.object({
  action: z.enum(actionWords),
  apiVersion: z.string(),
  kind: z.string(),
  name: z.string(),
  id: z.string().optional().describe('Absent for what is still to be made.'),
  displayName: z.string(),
  changes: z.array(changeSchema),
  unchangedFields: z.number().int(),
  why: z.enum(actionReasons),
  reason: z.string().describe('One line for people.'),
  dependsOn: z.array(z.string()).describe('Kind/name of the actions that come before.'),
  destroysData: z.boolean(),
  movedFrom: z.string().optional().describe('The name it had in the stack.'),
})
export type Action = z.infer<typeof actionSchema>

export const associationActionSchema = z.object({
  action: z.enum(['create', 'delete', 'none', 'dropped']),
  from: targetSchema,
  to: targetSchema,
  why: z.enum(['bundle', 'drift', 'removed', 'equal', 'skipped']),
})
export type AssociationAction = z.infer<typeof associationActionSchema>

export const driftSchema = z.object({
  kind: z.string(),
  name: z.string(),
  gone: z.boolean().describe('Deleted outside.'),
  changes: z.array(changeSchema).describe('As they happened: from what was applied last to what is live.'),
})

export const confirmations = ['massDelete', 'dataLoss'] as const
export type Confirmation = (typeof confirmations)[number]

export const basisSchema = z.object({
  stackRevision: z.number().int().describe('0 for a stack that is still to be made.'),
  liveRevisions: z.record(z.string(), z.number().int()).describe('Id to revision of everything that was read.'),
  bundleHash: z.string(),
  settingsHash: z.string().describe('Env values, skip, adopt, and fingerprints of the secrets supplied.'),
})
export type Basis = z.infer<typeof basisSchema>

export const countsSchema = z.object({
  create: z.number().int(),
  update: z.number().int(),
  replace: z.number().int(),
  adopt: z.number().int(),
  forget: z.number().int(),
  delete: z.number().int(),
  unchanged: z.number().int(),
})

export const planSchema = z.object({
  id: z.string().describe('A hash over stack, basis and actions: the same plan has the same id.'),
  stack: z
    .object({ id: z.string().optional(), name: z.string() })
    .nullable()
    .describe('Null for an apply without a stack.'),
  basis: basisSchema,
  actions: z.array(actionSchema).describe('In the order in which apply does them; deletes and none last.'),
  associations: z.array(associationActionSchema),
  secrets: z.array(z.object({ key: z.string(), action: z.enum(['create', 'update']) })),
  drift: z.array(driftSchema),
  blockers: z.array(problemSchema),
  needs: z.array(z.enum(confirmations)).describe('Confirmations without which apply refuses.'),
  applicable: z.boolean(),
  counts: countsSchema,
  expiresAt: z.iso.datetime(),
})
export type Plan = z.infer<typeof planSchema>
