import * as z from 'zod'
import { conditions, observedGeneration, ofReady } from '../conditions.ts'
import { setOf, settings } from '../fields.ts'
import { fragmentSchema } from '../fragment.ts'
import { defineKind } from '../kind.ts'
import { plainName, plainNamePattern } from '../names.ts'

export const machine = defineKind({
  kind: 'Machine',
  summary: 'one managed host',
  description: [
    'Its display name is its name in the fleet: instances name machines by it. Deleting a machine ends its enrolment, which cannot be made again without its owner.',
  ],
  displayName: { unique: true, least: 1, most: 63, pattern: plainNamePattern },
  destroysData: true,
  spec: z.strictObject({
    description: z.string().optional().describe('For people.'),
    tags: setOf(plainName().refine(tag => tag !== 'all', 'is the tag that every machine has by itself'))
      .default([])
      .describe('Roles choose machines by tag. Every machine also has the tag `all`.'),
    system: z
      .enum(['linux/x64', 'linux/arm64'])
      .optional()
      .describe('Operating system and processor; absent: as its agent reports.'),
    config: fragmentSchema.default({}).describe('What this machine is to have beside its services; goes over them.'),
    vars: z.record(plainName(), settings()).default({}).describe('Generators of values for this machine.'),
  }),
  status: z.strictObject({
    observedGeneration: observedGeneration(),
    phase: z
      .enum(['Pending', 'Preparing', 'Prepared', 'Activating', 'Healthy', 'Failed', 'Away'])
      .describe('Where it stands.'),
    revision: z.string().optional().describe('Of the MachineConfig that is active.'),
    generation: z.number().int().optional().describe('Of the overlay that is active.'),
    lastSeenAt: z.iso.datetime().optional().describe('When its agent last reported.'),
    drift: z.array(z.string()).optional().describe('What was changed on it by another hand.'),
    conditions: conditions(),
  }),
  columns: [
    { title: 'STATUS', value: ({ status }) => String(status?.phase ?? '') },
    { title: 'TAGS', value: ({ spec }) => (Array.isArray(spec.tags) ? spec.tags.join(', ') : '') },
    { title: 'REVISION', value: ({ status }) => String(status?.revision ?? '').slice(0, 8) },
    { title: 'SYSTEM', value: ({ spec }) => String(spec.system ?? ''), wide: true },
    { title: 'GENERATION', value: ({ status }) => String(status?.generation ?? ''), wide: true },
    { title: 'MESSAGE', value: ({ status }) => ofReady(status, 'message'), wide: true },
  ],
  example: `apiVersion: cairn.dev/v1
kind: Machine
metadata:
  name: atlas
spec:
  description: Under the stairs
  tags: [home, server]
  system: linux/x64
  config:
    etc:
      motd:
        text: Welcome to atlas.
`,
})
