// The fields of a spec against the schema and the rules of its kind. Numbers are taken where text is wanted.
import * as z from 'zod'
import { deepPath, fieldPath, joinPaths } from '../../lib/located-json.ts'
import { canonicalSpec, specSchemaOf } from '../../resources/canonical.ts'
import { unwrapped } from '../../resources/fields.ts'
import type { Kind, NamedReference, Spec } from '../../resources/kind.ts'
import { schemaProblems } from '../../resources/schema-problems.ts'
import type { Substitution } from './env-refs.ts'
import { type Complaint, envType } from './problems.ts'
import { isBelow, isMapping, isWithin, type Mapping, textOfNumber } from './values.ts'

export interface ReadSpec {
  /** Canonical as far as it fits. */
  readonly spec: Spec
  readonly named: readonly NamedReference[]
  readonly complaints: readonly Complaint[]
}

/** `spec` comes without name and associations. With `mayHaveMore`, unknown keys are told, and passed over. */
export function readSpec(
  kind: Kind,
  spec: Mapping,
  found: Pick<Substitution, 'uses' | 'unknown'>,
  mayHaveMore: boolean,
): ReadSpec {
  const schema = specSchemaOf(kind)
  const first = schema.safeParse(spec)
  if (first.success) return finished(kind, spec, first.data, [])
  const value = numbersAsText(schema, spec)
  const strange = mayHaveMore ? problemsOf(schema, value).filter(({ code }) => code === 'key.unknown') : []
  const known = strange.length > 0 ? withoutPlaces(value, 'spec', new Set(strange.map(({ path }) => path))) : value
  const complaints = [...strange, ...problemsOf(schema, known)]
    .filter(complaint => !isAboutUnknown(complaint, found.unknown))
    .map(complaint => fromOutside(complaint, found.uses))
  return finished(kind, known, schema.safeParse(known).data, complaints)
}

/** `fitting` has defaults and is absent when the value does not fit. */
function finished(
  kind: Kind,
  value: unknown,
  fitting: Mapping | undefined,
  complaints: readonly Complaint[],
): ReadSpec {
  const spec = canonicalSpec(kind, value as Spec)
  if (!fitting) return { spec, named: [], complaints }
  const broken = kind.rules(fitting as Spec).map(({ path, ...rule }) => ({ ...rule, path: deepPath('spec', path) }))
  return { spec, named: kind.namedReferences(spec), complaints: [...complaints, ...broken] }
}

const fits = (schema: z.core.$ZodType, value: unknown) => z.safeParse(schema, value).success

/** What the schema says about a value, as complaints about the part of a document that `schema` is for. */
export function complaintsAt(parent: string, schema: z.ZodType, value: unknown): Complaint[] {
  const { error } = schema.safeParse(value, { reportInput: true })
  if (!error) return []
  return schemaProblems(schema, error).map(problem => ({
    ...problem,
    path: joinPaths(parent, problem.path),
    ...((problem.code === 'key.unknown' || problem.code === 'value.missing') && { at: 'key' }),
  }))
}

const problemsOf = (schema: z.ZodType, value: unknown) => complaintsAt('spec', schema, value)

/** A key can be wrong whatever stands there; a form cannot be told while a part of it is not known. */
function isAboutUnknown({ code, path }: Complaint, unknown: ReadonlySet<string>): boolean {
  if (code === 'key.unknown') return isBelow(path, unknown)
  return isWithin(path, unknown) || ((code === 'value.type' || code === 'value.not-allowed') && holds(path, unknown))
}

function holds(path: string, unknown: ReadonlySet<string>): boolean {
  const places = new Set([path])
  return [...unknown].some(place => isWithin(place, places))
}

function fromOutside(complaint: Complaint, uses: Substitution['uses']): Complaint {
  const use = complaint.code === 'value.type' ? uses.find(({ path }) => path === complaint.path) : undefined
  return use ? envType(complaint.path, use.key, complaint.reason) : complaint
}

function withoutPlaces(value: unknown, path: string, places: ReadonlySet<string>): unknown {
  if (Array.isArray(value)) return value.map((item, index) => withoutPlaces(item, fieldPath(path, index), places))
  if (!isMapping(value)) return value
  const kept = Object.entries(value).filter(([key]) => !places.has(fieldPath(path, key)))
  return Object.fromEntries(kept.map(([key, item]) => [key, withoutPlaces(item, fieldPath(path, key), places)]))
}

function numbersAsText(schema: z.core.$ZodType, value: unknown): unknown {
  const inner = unwrapped(schema)
  if (inner._zod.def.type === 'string') return typeof value === 'number' ? textOfNumber(value) : value
  if (inner instanceof z.ZodUnion) {
    if (fits(inner, value)) return value
    const option = inner.options.find(option => fits(option, numbersAsText(option, value)))
    return option ? numbersAsText(option, value) : value
  }
  if (inner instanceof z.ZodArray && Array.isArray(value)) return value.map(item => numbersAsText(inner.element, item))
  if (!isMapping(value)) return value
  const fieldOf = (key: string): z.core.$ZodType | undefined => {
    if (inner instanceof z.ZodRecord) return inner.valueType
    return inner instanceof z.ZodObject && Object.hasOwn(inner.shape, key) ? inner.shape[key] : undefined
  }
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      const field = fieldOf(key)
      return [key, field ? numbersAsText(field, item) : item]
    }),
  )
}
