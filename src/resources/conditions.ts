// Conditions: what a controller found out about a resource, in the shape that Kubernetes made common.
import * as z from 'zod'
import type { Spec } from './kind.ts'

const conditionSchema = z.strictObject({
  type: z.string().describe('What it is about: Ready.'),
  status: z.enum(['True', 'False', 'Unknown']).describe('Whether it holds.'),
  reason: z.string().describe('One word for programs.'),
  message: z.string().describe('One sentence for people.'),
  lastTransitionTime: z.iso.datetime().describe('When the status last changed.'),
  observedGeneration: z.number().int().optional().describe('The generation of the spec that was looked at.'),
})

export const conditions = () => z.array(conditionSchema).describe('What was found out, one entry for each type.')

export const observedGeneration = () =>
  z.number().int().optional().describe('The generation of the spec that this status is of.')

/** One field of the Ready condition; '' when there is none. */
export function ofReady(status: Spec | null, field: 'reason' | 'message'): string {
  const found = status?.conditions
  const ready = Array.isArray(found) ? (found as readonly Spec[]).find(({ type }) => type === 'Ready') : undefined
  return String(ready?.[field] ?? '')
}
