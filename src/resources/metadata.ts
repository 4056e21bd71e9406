// What every resource has beside its spec: the name that it has in its bundle, and what becomes of it.
import * as z from 'zod'

/** metadata.name: the identity in bundle and stack. */
export const metadataNamePattern = /^[a-z0-9]([-_a-z0-9]*[a-z0-9])?$/
export const longestMetadataName = 63

const onRemovePolicies = ['delete', 'retain', 'protect'] as const

/** What becomes of a resource apart from its spec. */
export const lifecycleSchema = z.strictObject({
  onRemove: z
    .enum(onRemovePolicies)
    .optional()
    .describe('When it leaves the bundle: delete it (the default for what a stack made), retain it, or refuse.'),
  adopt: z
    .union([
      z.literal('never'),
      z.literal('byName'),
      z.strictObject({ id: z.string().min(1).describe('The one with this id.') }),
    ])
    .optional()
    .describe('Take over a live resource that no stack owns. Default never.'),
  ignore: z
    .array(z.string().min(1))
    .optional()
    .describe('Paths such as spec.size: written at create, then left alone.'),
})
export type Lifecycle = z.infer<typeof lifecycleSchema>

const nameSchema = z
  .string()
  .max(longestMetadataName)
  .regex(metadataNamePattern, 'is not a name such as web-1: lower-case letters, digits, "-" and "_"')

export const metadataSchema = z.strictObject({
  name: nameSchema.describe(
    'The identity in bundle and stack, unique among resources of its kind: `[a-z0-9]([-_a-z0-9]*[a-z0-9])?`.',
  ),
  movedFrom: z
    .union([nameSchema, z.array(nameSchema)])
    .optional()
    .describe('Names that it had before: the stack renames its entry, and nothing is made anew.'),
  lifecycle: lifecycleSchema.optional().describe('What becomes of it apart from its spec.'),
})
