import * as z from 'zod'
import { conditions, observedGeneration, ofReady } from '../conditions.ts'
import { imageFields, imageParts, imageRules } from '../image-name.ts'
import { defineKind, type Spec } from '../kind.ts'
import { pulling, tolerationRules } from '../pull-fields.ts'

const spec = z.strictObject({ ...imageFields, ...pulling })

const count = (about: string) => z.number().int().optional().describe(about)
const time = (about: string) => z.iso.datetime().optional().describe(about)

export const cachedImage = defineKind({
  kind: 'CachedImage',
  summary: 'one image that machines hold before they need it',
  description: [
    'Is pulled on every machine that the selector and the tolerations allow, at the pace of its PullPolicy, again and again where that policy says so. One that a CachedImageSet made belongs to the set.',
  ],
  displayName: { unique: true, least: 1, most: 253 },
  spec,
  status: z.strictObject({
    observedGeneration: observedGeneration(),
    phase: z.enum(['Pending', 'Pulling', 'Ready', 'Degraded']).describe('Over all machines.'),
    ready: z.string().describe('Machines that have it, of those that should: n/m.'),
    resolvedDigest: z.string().optional().describe('What the tag means.'),
    nodesTargeted: count('Machines that should have it.'),
    nodesReady: count('Machines that have it.'),
    nodesPulling: count('Machines that are pulling it.'),
    cachedNodes: z.array(z.string()).optional().describe('Machines that have it, sorted.'),
    cachedKeys: z.array(z.string()).optional().describe('For each of cachedNodes: which machine and reference it was.'),
    consecutiveFailures: count('Since the last pull that went well.'),
    lastPulledAt: time('Of a real pull.'),
    lastAttemptedAt: time('Of any pull.'),
    failedNodes: z
      .array(
        z.strictObject({
          name: z.string().describe('Of the machine.'),
          reason: z.string().describe('One word for programs.'),
          message: z.string().describe('One sentence for people.'),
          failures: z.number().int().describe('In a row.'),
          lastAttemptedAt: time('When it was last tried.'),
          nextAttemptAt: time('When it is tried again.'),
        }),
      )
      .max(100)
      .optional()
      .describe('Machines on which the pull failed, at most 100.'),
    failedNodesOmitted: count('How many more there are.'),
    conditions: conditions(),
  }),
  rules: found => {
    const given = found as z.input<typeof spec>
    return [...imageRules(given), ...tolerationRules(given.tolerations)]
  },
  columns: [
    { title: 'IMAGE', value: ({ spec }) => String(spec.image ?? '') },
    { title: 'TAG', value: ({ spec }) => tagOf(spec) },
    { title: 'STATUS', value: ({ status }) => ofReady(status, 'reason') },
    { title: 'READY', value: ({ status }) => String(status?.ready ?? '') },
    { title: 'DIGEST', value: ({ spec, status }) => String(status?.resolvedDigest ?? spec.digest ?? ''), wide: true },
    { title: 'MESSAGE', value: ({ status }) => ofReady(status, 'message'), wide: true },
  ],
  example: `apiVersion: cairn.dev/v1
kind: CachedImage
metadata:
  name: web
spec:
  image: registry.example/team/web
  tag: "2.4"
  imagePullSecrets: [{ name: registry-login }]
  nodeSelector: { role: web }
  policyRef: { external: gentle }
`,
})

function tagOf({ image, tag, digest }: Spec): string {
  const inside = imageParts(String(image ?? ''))
  return String(tag ?? inside?.tag ?? (digest || inside?.digest ? '' : 'latest'))
}
