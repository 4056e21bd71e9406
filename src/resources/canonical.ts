// The whole spec of a kind, and the one form in which equal specs are equal: defaults filled, units in one spelling, sets
// sorted, keys in the order of the schema. What does not fit the schema stays as it is; unknown keys go.
import * as z from 'zod'
import { canonicalizer, pruner } from './canonical-value.ts'
import { setOf } from './fields.ts'
import type { Kind, Spec } from './kind.ts'

/** The spec with what every kind has: `name` first, `associations` last. */
export const specSchemaOf = perKind(kind =>
  z.strictObject({
    name: z.string().optional().describe('Display name; absent or empty: metadata.name.'),
    ...kind.spec.shape,
    associations: setOf(associationSchema)
      .optional()
      .describe(`What it carries: ${listed(kind.associations)}.`),
  }),
)

/** The same for equal specs, with or without name and associations. Canonical twice is canonical once. */
export const canonicalSpec = (kind: Kind, spec: Spec): Spec => canonicalizerOf(kind)(spec) as Spec

/** Canonical, without the fields that equal their default: as a person would write it. */
export const withoutDefaults = (kind: Kind, spec: Spec): Spec => prunerOf(kind)(canonicalSpec(kind, spec)) as Spec

/** Which kinds fit is said by the kind and checked with the graph; the form alone is checked here. */
const associationSchema = z.union([
  z.strictObject({ kind: z.string().min(1), name: z.string().min(1) }),
  z.strictObject({ kind: z.string().min(1), external: z.string().min(1) }),
])

const canonicalizerOf = perKind(kind => canonicalizer(specSchemaOf(kind)))
const prunerOf = perKind(kind => pruner(specSchemaOf(kind)))

const listed = (kinds: readonly string[]): string => (kinds.length > 0 ? kinds.join(', ') : 'nothing')

/** Made once for each kind. */
function perKind<Made>(make: (kind: Kind) => Made): (kind: Kind) => Made {
  const made = new WeakMap<Kind, Made>()
  return kind => {
    const known = made.get(kind)
    if (known !== undefined) return known
    const fresh = make(kind)
    made.set(kind, fresh)
    return fresh
  }
}
