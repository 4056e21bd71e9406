// Bundles: validate and plan, apply, export.
import * as z from 'zod'
import { basisSchema, confirmations, planSchema } from '../../bundles/model/plan.ts'
import { problemSchema, summarySchema } from '../../bundles/model/summary.ts'
import { readers, route, writers } from './route.ts'

const selector = z.strictObject({ kind: z.string().min(1), name: z.string().min(1).optional() })

export const sourceSchema = z.union([
  z.strictObject({
    name: z.string().min(1).max(4096).describe('Stands as file in Problems.'),
    contentType: z.string().max(255).optional(),
    encoding: z.enum(['yaml', 'json']).optional(),
    evaluated: z.boolean().optional().describe('Made by evaluating `name`; positions in it mean nothing.'),
    content: z.string(),
  }),
  z.strictObject({ url: z.string().min(1).max(4096) }),
])

const bundle = {
  stack: z.string().min(1).optional().describe('Id or name.'),
  stackName: z.string().min(1).max(255).optional().describe('Name of the stack that apply makes when none is given.'),
  sources: z.array(sourceSchema).default([]),
  env: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).default({}),
  secrets: z.record(z.string(), z.string()).default({}).describe('Values never come back.'),
  skip: z.array(selector).default([]),
  adopt: z.literal('byName').optional(),
  defaultApiVersion: z.string().optional(),
  options: z
    .strictObject({
      allowEmpty: z.boolean().optional(),
      unknownKeys: z.enum(['error', 'warn']).optional(),
      skipValidation: z.boolean().optional(),
    })
    .default({}),
}

const noStack = z.boolean().optional().describe('Nothing recorded, nothing deleted.')

const planAnswer = {
  summary: summarySchema,
  plan: planSchema,
  problems: z.array(problemSchema),
  warnings: z.array(problemSchema),
}

/** For a bundle that is itself the body. */
const bundleQuery = z.strictObject({ stack: z.string().min(1).optional() })
const bundleTypes = ['application/yaml', 'text/yaml', 'application/x-yaml']

export const planBundle = route({
  method: 'POST',
  path: '/api/v1/bundles/plan',
  tag: 'Bundles',
  summary: 'What an apply would do',
  description:
    'Takes no lock and changes nothing. With problems the answer is 422 and still holds summary and plan of all that could be understood.',
  allow: readers,
  changes: false,
  query: bundleQuery,
  body: z.strictObject({
    ...bundle,
    noStack,
    validateOnly: z.boolean().optional().describe('Reads and checks, asks nothing of the platform.'),
    save: z.boolean().optional().describe('Keep the plan for an apply by its id.'),
  }),
  bodyTypes: bundleTypes,
  answer: z.object(planAnswer),
  errors: [404, 409, 413, 415, 422],
})

export const outcomeSchema = z.discriminatedUnion('did', [
  z.object({ did: z.literal('nothing') }),
  z.object({ did: z.literal('applied'), madeStack: z.boolean() }),
  z.object({ did: z.literal('rolled back'), failures: z.array(problemSchema) }),
  z.object({
    did: z.literal('rollback incomplete'),
    failures: z.array(problemSchema),
    leftovers: z.array(problemSchema),
  }),
])

const applyOptions = {
  confirm: z.array(z.enum(confirmations)).default([]),
  lockWait: z.string().max(20).optional().describe('How long to wait for another operation on the stack: 30s.'),
  wait: z.string().max(20).optional().describe('How long to wait, after the commit, for everything to be ready: 5m.'),
  cancelOnDisconnect: z.boolean().optional(),
}

const readinessSchema = z.object({
  ready: z.boolean(),
  waiting: z.array(z.object({ kind: z.string(), name: z.string(), reason: z.string() })),
})

const applyAnswerSchema = z.object({
  ...planAnswer,
  stackId: z.string().nullable(),
  outcome: outcomeSchema,
  readiness: readinessSchema.optional().describe('With `wait`.'),
})

export const applyBundle = route({
  method: 'POST',
  path: '/api/v1/bundles/apply',
  tag: 'Bundles',
  summary: 'Bring the platform to what a bundle says',
  description:
    'All of it, or nothing. With `planId` exactly that saved plan, else the plan that is made under the lock. `Accept: application/x-ndjson` streams progress; the last line is the answer.',
  allow: writers,
  query: bundleQuery,
  body: z.union([
    z.strictObject({ planId: z.string().min(1), secrets: bundle.secrets, ...applyOptions }),
    z.strictObject({
      ...bundle,
      noStack,
      expectPlan: z
        .object({ id: z.string(), basis: basisSchema, expiresAt: z.string() })
        .optional()
        .describe('Do it only if the plan comes out the same.'),
      ...applyOptions,
    }),
  ]),
  bodyTypes: bundleTypes,
  answer: applyAnswerSchema,
  statuses: [200, 201],
  answerTypes: ['application/x-ndjson'],
  errors: [404, 409, 413, 415, 422, 428, 500, 502],
})

export const exportedSchema = z.object({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.record(z.string(), z.json()),
  spec: z.record(z.string(), z.json()),
})

export const exportBundle = route({
  method: 'POST',
  path: '/api/v1/bundles/export',
  tag: 'Bundles',
  summary: 'Live resources as a bundle',
  allow: readers,
  changes: false,
  body: z.strictObject({
    stacks: z.array(z.string().min(1)).default([]).describe('Ids or names.'),
    all: z.boolean().optional(),
    resources: z
      .array(
        z.strictObject({
          kind: z.string().min(1),
          id: z.string().min(1).optional(),
          name: z.string().min(1).optional().describe('Display name.'),
          as: z.string().min(1).optional().describe('Display name in the export.'),
        }),
      )
      .default([]),
    filters: z
      .strictObject({
        kinds: z.array(z.string()).optional(),
        labels: z.array(z.string()).optional(),
        displayNames: z.array(z.string()).optional(),
      })
      .default({}),
    resolve: z.boolean().optional().describe('Literal values instead of env refs.'),
    noDependencies: z.boolean().optional(),
    strictNames: z.boolean().optional().describe('`-` for `_` in metadata.name.'),
  }),
  answer: z.array(exportedSchema),
  answerTypes: ['application/yaml'],
  errors: [404, 409, 413, 415, 422],
})
