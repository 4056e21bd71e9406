// How a bundle names another resource, in a reference or an association: the form alone. Whether it is there, graph.ts says.
import { deepPath, fieldPath } from '../../lib/located-json.ts'
import { didYouMean, nearest } from '../../lib/suggest.ts'
import type { MarkedField } from '../../resources/fields.ts'
import type { Kind } from '../../resources/kind.ts'
import { metadataNamePattern } from '../../resources/metadata.ts'
import type { Target } from '../model/bundle.ts'
import {
  type Complaint,
  keyUnknown,
  referenceForm,
  referenceKind,
  tooManyAssociations,
  valueMissing,
  valueType,
} from './problems.ts'
import { isMapping, type Mapping, ownValue, textOfNumber } from './values.ts'

/** A target in its place. */
export interface Pointer {
  readonly form: 'reference' | 'association'
  /** From the root of the document, as written. */
  readonly path: string
  /** Kinds that fit; the target is of one of them. */
  readonly kinds: readonly string[]
  /** Absent where several fit and none is said. */
  readonly kind?: string
  readonly name?: string
  readonly external?: string
  /** The name comes from outside and is not known yet. */
  readonly isOpen: boolean
}

export interface Pointers {
  readonly pointers: readonly Pointer[]
  readonly complaints: readonly Complaint[]
}

interface Place {
  readonly path: string
  readonly kinds: readonly string[]
  readonly form: 'reference' | 'association'
  readonly ownerKind: string
  readonly unknown: ReadonlySet<string>
  readonly mayHaveMore: boolean
}

/** What is known about the places of a document. */
export interface Surroundings {
  /** Places of values that are not known yet, or that were complained about. */
  readonly unknown: ReadonlySet<string>
  /** Unknown keys are told, and passed over. */
  readonly mayHaveMore: boolean
}

/** `fields` are the marked ones of a spec of this kind. */
export function readReferences(
  kind: Kind,
  fields: Iterable<MarkedField>,
  around: Surroundings,
): Pointers & { readonly faulty: readonly string[] } {
  const pointers: Pointer[] = []
  const faulty: string[] = []
  const complaints: Complaint[] = []
  for (const { path, mark, value } of fields) {
    const place = deepPath('spec', path)
    if (!mark.reference || value === null || around.unknown.has(place)) continue
    const form = { path: place, kinds: mark.reference, form: 'reference', ownerKind: kind.kind, ...around } as const
    const read = readTarget(value, form, complaints)
    if (read) pointers.push(read)
    else faulty.push(place)
  }
  return { pointers, faulty, complaints }
}

export function readAssociations(
  kind: Kind,
  value: unknown,
  { path, limit, ...around }: Surroundings & { path: string; limit: number },
): Pointers {
  if (value === undefined || around.unknown.has(path)) return { pointers: [], complaints: [] }
  if (!Array.isArray(value))
    return {
      pointers: [],
      complaints: [valueType(path, 'a list', value, 'Write a list of { kind: KIND, name: NAME }.')],
    }
  if (value.length > limit) return { pointers: [], complaints: [tooManyAssociations(path, value.length, limit)] }
  const complaints: Complaint[] = []
  const pointers = value.flatMap((item, index) => {
    const place = fieldPath(path, index)
    if (around.unknown.has(place)) return []
    const form = {
      path: place,
      kinds: kind.associations,
      form: 'association',
      ownerKind: kind.kind,
      ...around,
    } as const
    return readTarget(item, form, complaints) ?? []
  })
  return { pointers, complaints }
}

/** A pointer with a kind, as it stands in bundle and record. */
export const targetOf = ({ name, external }: Pick<Pointer, 'name' | 'external'>, kind: string): Target =>
  name !== undefined ? { kind, name } : { kind, external: external! }

const targetKeys = ['kind', 'name', 'external']

/** Null when something is wrong with it, or not enough is known of it yet. */
function readTarget(value: unknown, place: Place, complaints: Complaint[]): Pointer | null {
  const { path } = place
  if (!isMapping(value)) {
    const example = typeof value === 'string' && metadataNamePattern.test(value) ? value : 'NAME'
    const kind = place.form === 'association' ? `kind: ${place.kinds[0] ?? 'KIND'}, ` : ''
    complaints.push(valueType(path, 'a mapping', value, `Write { ${kind}name: ${example} }.`))
    return null
  }
  const unknownKeys = Object.keys(value).filter(key => !targetKeys.includes(key) && key !== 'id')
  const strangers = unknownKeys.map(key => keyUnknown(fieldPath(path, key), key, targetKeys))
  const meant = new Set(place.mayHaveMore ? [] : unknownKeys.map(key => nearest(key, targetKeys)))
  const wrong: Complaint[] = place.mayHaveMore ? [] : strangers
  const kind = readKind(value, place, meant, wrong)
  const named = readNamed(value, place, meant, wrong)
  complaints.push(...new Set([...strangers, ...wrong]))
  const { form, kinds } = place
  const isKindOpen = form === 'association' && kind === undefined
  if (wrong.length > 0 || named === null || isKindOpen) return null
  return { form, path, kinds, ...(kind !== undefined && { kind }), ...named }
}

function readKind(
  value: Mapping,
  place: Place,
  meant: ReadonlySet<string | null>,
  wrong: Complaint[],
): string | undefined {
  const { path, kinds, form, unknown } = place
  const kindPath = fieldPath(path, 'kind')
  const kind = ownValue(value, 'kind')
  if (kind === undefined) {
    if (form === 'reference') return kinds.length === 1 ? kinds[0] : undefined
    if (!meant.has('kind')) wrong.push(valueMissing(kindPath, 'an association says the kind of what it is with'))
    return undefined
  }
  if (unknown.has(kindPath)) return kinds.length === 1 ? kinds[0] : undefined
  if (typeof kind !== 'string') {
    wrong.push(valueType(kindPath, 'text', kind))
    return undefined
  }
  if (kinds.includes(kind)) return kind
  const allowed = kinds.length > 0 ? `only with ${kinds.join(', ')}` : 'with nothing'
  const reason =
    form === 'association'
      ? `a ${place.ownerKind} can be associated ${allowed}, not with a ${kind}`
      : `must be a ${kinds.join(' or ')}, not a ${kind}`
  wrong.push(referenceKind(path, reason, didYouMean(kind, kinds)))
  return undefined
}

function readNamed(
  value: Mapping,
  { path, unknown }: Place,
  meant: ReadonlySet<string | null>,
  wrong: Complaint[],
): Pick<Pointer, 'name' | 'external' | 'isOpen'> | null {
  const keys = (['name', 'external'] as const).filter(key => ownValue(value, key) !== undefined)
  if (Object.hasOwn(value, 'id')) {
    wrong.push(referenceForm(path, 'a bundle does not refer by id'))
    return null
  }
  if (keys.length === 2) {
    wrong.push(referenceForm(path, 'name and external cannot both stand here'))
    return null
  }
  const [key] = keys
  if (key === undefined) {
    if (!meant.has('name') && !meant.has('external'))
      wrong.push(valueMissing(fieldPath(path, 'name'), 'the name of a resource is missing'))
    return null
  }
  const keyPath = fieldPath(path, key)
  const named = ownValue(value, key)
  if (unknown.has(keyPath) && typeof named !== 'string') return null
  if (named === null || named === '') {
    wrong.push(valueMissing(keyPath, 'the name of a resource is missing'))
    return null
  }
  if (typeof named !== 'string' && typeof named !== 'number') {
    wrong.push(valueType(keyPath, 'a name', named))
    return null
  }
  const text = typeof named === 'number' ? textOfNumber(named) : named
  return { [key]: text, isOpen: unknown.has(keyPath) }
}
