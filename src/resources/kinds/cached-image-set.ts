import * as z from 'zod'
import { conditions, observedGeneration, ofReady } from '../conditions.ts'
import { reference, setOf } from '../fields.ts'
import { imageFields, imageRules } from '../image-name.ts'
import { defineKind } from '../kind.ts'
import { pulling, tolerationRules } from '../pull-fields.ts'

const spec = z.strictObject({
  images: setOf(z.strictObject(imageFields)).default([]).describe('Images that are wanted in any case.'),
  discoveryPolicyRef: reference('DiscoveryPolicy').optional().describe('Whose images are wanted as well.'),
  ...pulling,
})

export const cachedImageSet = defineKind({
  kind: 'CachedImageSet',
  summary: 'images that machines hold, listed or discovered',
  description: [
    'Makes one CachedImage for each image of its list and of its DiscoveryPolicy, and removes those that are no longer wanted. Everything but the two lists goes on to them.',
    'While the DiscoveryPolicy is missing or knows nothing, discovered images stay as they are.',
  ],
  displayName: { unique: true, least: 1, most: 253 },
  spec,
  status: z.strictObject({
    observedGeneration: observedGeneration(),
    phase: z.enum(['Pending', 'Ready', 'Degraded']).describe('Over all images.'),
    imagesManaged: z.number().int().describe('Images that it keeps.'),
    imagesReady: z.number().int().describe('Those that every machine has.'),
    problems: z.array(z.string()).max(20).optional().describe('Entries that are no images.'),
    conditions: conditions(),
  }),
  rules: found => {
    const { images = [], tolerations } = found as z.input<typeof spec>
    return [...images.flatMap((image, index) => imageRules(image, ['images', index])), ...tolerationRules(tolerations)]
  },
  columns: [
    { title: 'STATUS', value: ({ status }) => ofReady(status, 'reason') },
    { title: 'READY', value: ({ status }) => String(status?.imagesReady ?? '') },
    { title: 'MANAGED', value: ({ status }) => String(status?.imagesManaged ?? '') },
    { title: 'SOURCE', value: ({ spec }) => (spec.discoveryPolicyRef ? 'discovered' : 'listed') },
    { title: 'MESSAGE', value: ({ status }) => ofReady(status, 'message'), wide: true },
  ],
  example: `apiVersion: cairn.dev/v1
kind: CachedImageSet
metadata:
  name: home
spec:
  images:
    - { image: registry.example/team/web, tag: "2.4" }
    - { image: docker.io/library/postgres, tag: "15" }
  tolerations:
    - { key: dedicated, operator: Exists, effect: NoSchedule }
`,
})
