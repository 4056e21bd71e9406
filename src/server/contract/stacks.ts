// Stacks: what bundles made.
import * as z from 'zod'
import { confirmations, driftSchema, planSchema } from '../../bundles/model/plan.ts'
import { leaseSchema, stackEventSchema, stackSchema } from '../../bundles/model/stack.ts'
import { exportedSchema, outcomeSchema } from './bundles.ts'
import { idParam, pageQuery, readers, repeatable, route, writers } from './route.ts'

const params = z.strictObject({ id: idParam.describe('Id, or a name that only one stack has.') })
const tag = 'Stacks'

const urls = z.array(z.string().min(1).max(4096)).max(100)

export const listStacks = route({
  method: 'GET',
  path: '/api/v1/stacks',
  tag,
  summary: 'The stacks there are',
  allow: readers,
  query: z.strictObject({ ...pageQuery, name: repeatable(z.string()), id: repeatable(z.string()) }),
  answer: z.object({ stacks: z.array(stackSchema), next: z.string().optional() }),
})

export const createStack = route({
  method: 'POST',
  path: '/api/v1/stacks',
  tag,
  summary: 'Make an empty stack',
  allow: writers,
  body: z.strictObject({
    name: z.string().min(1).max(255),
    description: z.string().max(4096).optional(),
    urls: urls.optional(),
    reconcile: z.string().max(20).optional(),
  }),
  answer: stackSchema,
  statuses: [201],
  errors: [413, 415, 422],
})

export const getStack = route({
  method: 'GET',
  path: '/api/v1/stacks/{id}',
  tag,
  summary: 'One stack, with its resources as they are live',
  allow: readers,
  params,
  answer: stackSchema.extend({
    lock: leaseSchema.nullable(),
    live: z
      .array(
        z.object({
          kind: z.string(),
          name: z.string(),
          displayName: z.string().nullable(),
          state: z.enum(['live', 'gone', 'unreadable']),
          status: z.record(z.string(), z.json()).nullable(),
        }),
      )
      .describe('In the order of `resources`.'),
  }),
  errors: [404, 409],
})

export const patchStack = route({
  method: 'PATCH',
  path: '/api/v1/stacks/{id}',
  tag,
  summary: 'Change name, description, URLs or reconcile of a stack',
  allow: writers,
  params,
  body: z.strictObject({
    name: z.string().min(1).max(255).optional(),
    description: z.string().max(4096).optional(),
    urls: urls.optional(),
    reconcile: z.string().max(20).nullable().optional(),
  }),
  answer: stackSchema,
  ifMatch: true,
  errors: [404, 409, 412, 413, 415, 422],
})

const operation = {
  confirm: z.array(z.enum(confirmations)).default([]),
  lockWait: z.string().max(20).optional(),
  planOnly: z.boolean().optional().describe('Gives the plan and does nothing.'),
}

const stackAnswer = { stack: stackSchema, plan: planSchema.optional(), outcome: outcomeSchema }
const operationErrors = [404, 409, 412, 413, 415, 422, 428, 500, 502]

export const deleteStack = route({
  method: 'DELETE',
  path: '/api/v1/stacks/{id}',
  tag,
  summary: 'Uninstall a stack, then forget its record',
  allow: writers,
  params,
  query: z.strictObject({
    keepResources: z.stringbool().optional(),
    confirm: repeatable(z.enum(confirmations)),
    lockWait: z.string().max(20).optional(),
  }),
  answer: z.undefined(),
  statuses: [204],
  ifMatch: true,
  errors: [409, 412, 422, 428, 500, 502],
})

export const uninstallStack = route({
  method: 'POST',
  path: '/api/v1/stacks/{id}/uninstall',
  tag,
  summary: 'Delete or release what a stack made; the record stays',
  allow: writers,
  params,
  body: z.strictObject(operation),
  answer: z.object(stackAnswer),
  ifMatch: true,
  errors: operationErrors,
})

export const importIntoStack = route({
  method: 'POST',
  path: '/api/v1/stacks/{id}/import',
  tag,
  summary: 'Take live resources into a stack; answers with the text for the bundle',
  allow: writers,
  params,
  body: z.strictObject({
    ...operation,
    resources: z
      .array(
        z.strictObject({
          kind: z.string().min(1),
          id: z.string().min(1).optional(),
          displayName: z.string().min(1).optional(),
          name: z.string().min(1).optional().describe('metadata.name; made from the display name when absent.'),
        }),
      )
      .min(1),
  }),
  answer: z.object({ ...stackAnswer, exported: z.array(exportedSchema) }),
  ifMatch: true,
  errors: operationErrors,
})

export const forgetInStack = route({
  method: 'POST',
  path: '/api/v1/stacks/{id}/forget',
  tag,
  summary: 'Release resources from a stack; they stay as they are',
  allow: writers,
  params,
  body: z.strictObject({
    ...operation,
    resources: z.array(z.strictObject({ kind: z.string().min(1), name: z.string().min(1).optional() })).min(1),
  }),
  answer: z.object(stackAnswer),
  ifMatch: true,
  errors: operationErrors,
})

export const refreshStack = route({
  method: 'POST',
  path: '/api/v1/stacks/{id}/refresh',
  tag,
  summary: 'What changed outside; with `accept` the record follows',
  allow: writers,
  params,
  body: z.strictObject({ ...operation, accept: z.boolean().optional() }),
  answer: z.object({ ...stackAnswer, drift: z.array(driftSchema) }),
  ifMatch: true,
  errors: operationErrors,
})

export const unlockStack = route({
  method: 'POST',
  path: '/api/v1/stacks/{id}/unlock',
  tag,
  summary: 'Take the lock away from whoever holds it',
  allow: writers,
  params,
  body: z.strictObject({ force: z.literal(true) }),
  answer: z.object({ was: leaseSchema.nullable() }),
  errors: [404, 409, 413, 415, 422],
})

export const cancelStack = route({
  method: 'POST',
  path: '/api/v1/stacks/{id}/cancel',
  tag,
  summary: 'Stop the operation that is under way; it is undone',
  allow: writers,
  params,
  body: z.strictObject({}),
  answer: z.object({ cancelled: z.boolean() }),
  errors: [404, 409, 413, 415, 422],
})

export const stackEvents = route({
  method: 'GET',
  path: '/api/v1/stacks/{id}/events',
  tag,
  summary: 'What happened to a stack, newest first',
  allow: readers,
  params,
  query: z.strictObject({
    limit: z.coerce.number().int().min(1).max(201).default(201),
    before: z.coerce.number().int().min(1).optional(),
  }),
  answer: z.object({ events: z.array(stackEventSchema) }),
  errors: [404, 409],
})
