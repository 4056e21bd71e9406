// metadata.lifecycle: what becomes of a resource apart from its spec.
import { didYouMean } from '../../lib/suggest.ts'
import { specSchemaOf } from '../../resources/canonical.ts'
import type { Kind } from '../../resources/kind.ts'
import { type Lifecycle, lifecycleSchema } from '../../resources/metadata.ts'
import { type Complaint, ignoreUnknown } from './problems.ts'
import { complaintsAt } from './spec.ts'
import { isMapping, isWithin, withoutKeys } from './values.ts'

const at = 'metadata.lifecycle'

export function readLifecycle(
  kind: Kind,
  value: unknown,
  { unknown, mayHaveMore }: { unknown: ReadonlySet<string>; mayHaveMore: boolean },
): { lifecycle: Lifecycle; complaints: readonly Complaint[] } {
  if (value === undefined || value === null) return { lifecycle: {}, complaints: [] }
  const strange = isMapping(value) ? Object.keys(value).filter(key => !Object.hasOwn(lifecycleSchema.shape, key)) : []
  const known = mayHaveMore && isMapping(value) ? withoutKeys(value, strange) : value
  const complaints = complaintsAt(at, lifecycleSchema, value).filter(({ path }) => !isWithin(path, unknown))
  const parsed = lifecycleSchema.safeParse(known)
  if (!parsed.success) return { lifecycle: {}, complaints }
  return { lifecycle: parsed.data, complaints: [...complaints, ...strayPaths(kind, parsed.data.ignore ?? [], unknown)] }
}

/** An ignored path that is no field would ignore nothing, and nobody would know. */
function strayPaths(kind: Kind, ignored: readonly string[], unknown: ReadonlySet<string>): Complaint[] {
  const fields = Object.keys(specSchemaOf(kind).shape)
  return ignored.flatMap((path, index) => {
    const place = `${at}.ignore[${index}]`
    const [, field] = /^spec\.([^.[]+)/.exec(path) ?? []
    if (unknown.has(place) || (field !== undefined && fields.includes(field))) return []
    return [ignoreUnknown(place, path, field === undefined ? undefined : didYouMean(field, fields))]
  })
}
