// Live resources, one by one: for `cairn get`, for controllers, and for hands that are quicker than a bundle.
import * as z from 'zod'
import { everyone, idParam, pageQuery, readers, repeatable, route, writers } from './route.ts'

const tag = 'Resources'

export const liveSchema = z.object({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.object({
    id: z.string(),
    revision: z.number().int(),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
    stack: z.object({ id: z.string(), name: z.string(), resource: z.string() }).nullable(),
    controlledBy: z.object({ kind: z.string(), id: z.string() }).optional(),
  }),
  spec: z.record(z.string(), z.json()).describe('With the display name and the associations by display name.'),
  status: z.record(z.string(), z.json()).nullable(),
})
export type LiveResource = z.infer<typeof liveSchema>

const kind = z.string().min(1).max(255)
const params = z.strictObject({ kind, id: idParam })
const spec = z.record(z.string(), z.json())

export const listKinds = route({
  method: 'GET',
  path: '/api/v1/kinds',
  tag,
  summary: 'The kinds there are',
  allow: everyone,
  answer: z.object({
    kinds: z.array(
      z.object({
        apiVersion: z.string(),
        kind: z.string(),
        family: z.string(),
        summary: z.string(),
        destroysData: z.boolean(),
      }),
    ),
  }),
})

export const kindSchema = route({
  method: 'GET',
  path: '/api/v1/kinds/{kind}/schema',
  tag,
  summary: 'The JSON Schema of a kind',
  allow: everyone,
  params: z.strictObject({ kind }),
  answer: z.record(z.string(), z.json()),
  errors: [404],
})

export const listResources = route({
  method: 'GET',
  path: '/api/v1/resources/{kind}',
  tag,
  summary: 'The live resources of a kind',
  allow: readers,
  params: z.strictObject({ kind }),
  query: z.strictObject({ ...pageQuery, name: repeatable(z.string()), label: repeatable(z.string()) }),
  answer: z.object({ resources: z.array(liveSchema), next: z.string().optional() }),
  errors: [404],
})

export const getResource = route({
  method: 'GET',
  path: '/api/v1/resources/{kind}/{id}',
  tag,
  summary: 'One live resource; a machine sees itself only',
  allow: everyone,
  params,
  answer: liveSchema,
  errors: [404, 409],
})

export const createResource = route({
  method: 'POST',
  path: '/api/v1/resources/{kind}',
  tag,
  summary: 'Make a resource that no stack owns',
  allow: writers,
  params: z.strictObject({ kind }),
  body: z.strictObject({ spec }),
  answer: liveSchema,
  statuses: [201],
  errors: [404, 409, 413, 415, 422],
})

export const putResource = route({
  method: 'PUT',
  path: '/api/v1/resources/{kind}/{id}',
  tag,
  summary: 'Change a live resource; to its stack this is drift',
  allow: writers,
  params,
  body: z.strictObject({ spec }),
  answer: liveSchema,
  ifMatch: true,
  errors: [404, 409, 412, 413, 415, 422],
})

export const deleteResource = route({
  method: 'DELETE',
  path: '/api/v1/resources/{kind}/{id}',
  tag,
  summary: 'Delete a live resource',
  allow: writers,
  params,
  query: z.strictObject({ confirm: repeatable(z.enum(['dataLoss'])) }),
  answer: z.undefined(),
  statuses: [204],
  ifMatch: true,
  errors: [404, 409, 412, 428],
})

export const putStatus = route({
  method: 'PUT',
  path: '/api/v1/resources/{kind}/{id}/status',
  tag,
  summary: 'Report what a resource is like; a machine reports itself only',
  allow: ['admin', 'operator', 'machine'],
  params,
  body: z.strictObject({ status: spec }),
  answer: z.undefined(),
  statuses: [204],
  errors: [404, 409, 413, 415, 422],
})
