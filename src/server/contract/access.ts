// Who may do what, and who did what: tokens, secrets, the audit log.
import * as z from 'zod'
import { secretKeyPattern } from '../../resources/fields.ts'
import { roles } from '../ports.ts'
import { admins, everyone, idParam, readers, route, writers } from './route.ts'

const role = z.enum(roles)

const tokenSchema = z.object({
  id: z.string(),
  name: z.string(),
  role,
  machine: z.string().optional(),
  createdAt: z.iso.datetime(),
  expiresAt: z.iso.datetime().optional(),
  revokedAt: z.iso.datetime().optional(),
})

export const whoAmI = route({
  method: 'GET',
  path: '/api/v1/me',
  tag: 'Access',
  summary: 'Who this token is',
  allow: everyone,
  answer: z.object({ id: z.string(), name: z.string(), role, machine: z.string().optional() }),
})

export const listTokens = route({
  method: 'GET',
  path: '/api/v1/tokens',
  tag: 'Access',
  summary: 'The tokens there are, never their text',
  allow: admins,
  answer: z.object({ tokens: z.array(tokenSchema) }),
})

export const createToken = route({
  method: 'POST',
  path: '/api/v1/tokens',
  tag: 'Access',
  summary: 'Make a token; its text is shown this once',
  allow: admins,
  body: z.strictObject({
    name: z.string().min(1).max(255),
    role,
    machine: z
      .string()
      .min(1)
      .max(63)
      .optional()
      .describe('Display name of the machine; with role machine only, and then required.'),
    expiresIn: z.string().max(20).optional().describe('30d; absent: never.'),
  }),
  answer: z.object({ token: tokenSchema, text: z.string() }),
  statuses: [201],
  errors: [413, 415, 422],
})

export const revokeToken = route({
  method: 'DELETE',
  path: '/api/v1/tokens/{id}',
  tag: 'Access',
  summary: 'Revoke a token, at once',
  allow: admins,
  params: z.strictObject({ id: idParam }),
  answer: z.undefined(),
  statuses: [204],
  errors: [404],
})

const key = z.string().regex(secretKeyPattern)

export const listSecrets = route({
  method: 'GET',
  path: '/api/v1/secrets',
  tag: 'Access',
  summary: 'The keys of secrets, and who uses them',
  allow: readers,
  answer: z.object({
    secrets: z.array(
      z.object({
        key: z.string(),
        createdAt: z.iso.datetime(),
        updatedAt: z.iso.datetime(),
        usedBy: z.array(z.string()),
      }),
    ),
  }),
})

export const putSecret = route({
  method: 'PUT',
  path: '/api/v1/secrets/{key}',
  tag: 'Access',
  summary: 'Set a secret; it is never shown again',
  allow: writers,
  params: z.strictObject({ key }),
  body: z.strictObject({ value: z.string().min(1) }),
  answer: z.object({ changed: z.boolean() }),
  errors: [413, 415, 422],
})

export const deleteSecret = route({
  method: 'DELETE',
  path: '/api/v1/secrets/{key}',
  tag: 'Access',
  summary: 'Remove a secret that nothing uses',
  allow: writers,
  params: z.strictObject({ key }),
  answer: z.undefined(),
  statuses: [204],
  errors: [404, 409],
})

export const listAudit = route({
  method: 'GET',
  path: '/api/v1/audit',
  tag: 'Access',
  summary: 'Every change that was asked for, newest first',
  allow: admins,
  query: z.strictObject({
    limit: z.coerce.number().int().min(1).max(500).default(100),
    before: z.coerce.number().int().min(1).optional(),
  }),
  answer: z.object({
    entries: z.array(
      z.object({
        seq: z.number().int(),
        at: z.iso.datetime(),
        who: z.string(),
        role,
        action: z.string(),
        target: z.string(),
        status: z.number().int(),
        detail: z.record(z.string(), z.json()),
      }),
    ),
  }),
})
