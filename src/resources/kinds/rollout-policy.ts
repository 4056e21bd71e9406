import * as z from 'zod'
import { duration, reference } from '../fields.ts'
import { defineKind } from '../kind.ts'

/** So many machines, or a share of all that the rollout changes. */
const amount = (least: number) =>
  z.union([
    z.number().int().min(least),
    z.string().regex(/^([1-9]\d?|100)%$/, 'is neither a number of machines nor a share such as 25%'),
  ])

export const rolloutPolicy = defineKind({
  kind: 'RolloutPolicy',
  summary: 'how a change goes over the machines',
  description: [
    'Everything that a change needs is fetched and prepared on all machines first, at the pace of the PullPolicy. Then the machines are activated: the canary, then one wave after another, each only when the one before was healthy for the whole health window.',
  ],
  displayName: { unique: true, least: 1, most: 253 },
  spec: z.strictObject({
    description: z.string().optional().describe('For people.'),
    pullPolicy: reference('PullPolicy').optional().describe('How fast is fetched before; absent: the defaults of one.'),
    canary: amount(0).default(1).describe('Machines that go first, alone; 0: none.'),
    waves: z
      .array(amount(1))
      .min(1)
      .default(['100%'])
      .describe(
        'Machines of each wave after the canary, as a number or a share; the last one repeats until all are done.',
      ),
    maxUnavailable: amount(1).optional().describe('The most machines under way at once; default the whole wave.'),
    order: z
      .array(reference('Label'))
      .default([])
      .describe(
        'Machines with the first of these labels go first, then those with the second; those with none go last.',
      ),
    pauseBetween: duration().default('0s').describe('After a wave is healthy.'),
    healthWindow: duration().default('30s').describe('How long the checks of a machine must hold.'),
    onFailure: z
      .enum(['stop', 'goBack', 'goOn'])
      .default('goBack')
      .describe(
        'When a machine fails: leave all as it is, take every machine of the rollout back, or go on without it.',
      ),
  }),
  columns: [
    { title: 'CANARY', value: ({ spec }) => String(spec.canary ?? '') },
    { title: 'WAVES', value: ({ spec }) => (Array.isArray(spec.waves) ? spec.waves.join(', ') : '') },
    { title: 'ON FAILURE', value: ({ spec }) => String(spec.onFailure ?? '') },
    { title: 'HEALTH', value: ({ spec }) => String(spec.healthWindow ?? ''), wide: true },
    { title: 'PAUSE', value: ({ spec }) => String(spec.pauseBetween ?? ''), wide: true },
  ],
  example: `apiVersion: cairn.dev/v1
kind: RolloutPolicy
metadata:
  name: careful
spec:
  canary: 1
  waves: ["50%"]
  maxUnavailable: 5
  healthWindow: 1m
  onFailure: goBack
`,
})
