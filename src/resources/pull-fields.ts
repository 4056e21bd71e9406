// What CachedImage, CachedImageSet and PullPolicy share: which machines are meant, and how an image is pulled there.
import * as z from 'zod'
import { reference, secretName, setOf } from './fields.ts'
import type { BrokenRule } from './kind.ts'

const tolerationSchema = z.strictObject({
  key: z.string().optional().describe('Of the taint; absent with Exists: every taint.'),
  operator: z.enum(['Exists', 'Equal']).default('Equal').describe('Whether the value counts.'),
  value: z.string().optional().describe('For Equal.'),
  effect: z.enum(['NoSchedule', 'PreferNoSchedule', 'NoExecute']).optional().describe('Absent: every effect.'),
  tolerationSeconds: z.number().int().optional().describe('For NoExecute.'),
})

export const placement = {
  nodeSelector: z
    .record(z.string().min(1), z.string())
    .default({})
    .describe('Labels that a machine must carry, all of them; none means every machine.'),
  tolerations: z.array(tolerationSchema).default([]).describe('Taints that do not keep it away from a machine.'),
}

export const pulling = {
  imagePullPolicy: z
    .enum(['Always', 'IfNotPresent', 'Never'])
    .default('Always')
    .describe('`Never` only looks whether the image is there.'),
  imagePullSecrets: setOf(secretName()).default([]).describe('Secrets with the credentials of the registry, by key.'),
  ...placement,
  priority: z
    .number()
    .int()
    .min(-(2 ** 31))
    .max(2 ** 31 - 1)
    .default(0)
    .describe('Lower ones are pulled first.'),
  policyRef: reference('PullPolicy').optional().describe('How fast; absent: the defaults of a PullPolicy.'),
  pullStrategy: z
    .enum(['Auto', 'Command', 'ImageVolume'])
    .default('Auto')
    .describe('How a Pod makes a node pull: by running a command, or by mounting the image.'),
}

type Toleration = z.input<typeof tolerationSchema>

export const tolerationRules = (tolerations: readonly Toleration[] = []): BrokenRule[] =>
  tolerations.flatMap((toleration, index) => tolerationProblems(toleration, ['tolerations', index]))

function tolerationProblems({ key, operator, value, effect, tolerationSeconds }: Toleration, path: BrokenRule['path']) {
  const broken: BrokenRule[] = []
  if (operator === 'Exists' && value)
    broken.push({ path: [...path, 'value'], code: 'value.conflict', reason: 'operator Exists takes no value' })
  if (!key && operator !== 'Exists')
    broken.push({
      path: [...path, 'key'],
      code: 'value.missing',
      reason: 'key is missing; only operator Exists does without',
    })
  if (tolerationSeconds !== undefined && effect !== 'NoExecute')
    broken.push({
      path: [...path, 'tolerationSeconds'],
      code: 'value.conflict',
      reason: 'only the effect NoExecute waits',
    })
  return broken
}
