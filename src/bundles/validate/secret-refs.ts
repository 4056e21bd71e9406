// Secrets: the fields that are kept secret hold a key, no other field does, and no clear text goes further than this file.
import { deepPath, fieldPath } from '../../lib/located-json.ts'
import { type MarkedField, secret, secretName } from '../../resources/fields.ts'
import type { Substitution } from './env-refs.ts'
import { secretInline, secretNotAllowed } from './problems.ts'
import { complaintsAt } from './spec.ts'
import { isMapping, isWithin, type Mapping, ownValue, replaceAt } from './values.ts'

export interface Secrets {
  /** Without clear text in secret fields. */
  readonly spec: Mapping
  /** Sorted; only keys that are known by now. */
  readonly keys: readonly string[]
}

/** `fields` are the marked ones of the spec. Complaints and places go to `found`. */
export function readSecrets(fields: readonly MarkedField[], spec: Mapping, found: Substitution): Secrets {
  if (found.secretRefs.length === 0 && !fields.some(({ mark }) => mark.secret)) return { spec, keys: [] }
  const keys = new Set<string>()
  const allowed = new Set<string>()
  let clean: Mapping = spec
  for (const { path, mark, value } of fields) {
    if (!mark.secret) continue
    const place = deepPath('spec', path)
    allowed.add(place)
    if (value === null)
      forget(place, found) // no secret, and a Problem of its own already or to the schema
    else if (!isMapping(value) || (mark.secret === 'value' && !Object.hasOwn(value, 'secretRef'))) {
      found.complaints.push(secretInline(place, mark.secret))
      clean = replaceAt(clean, path, () => null) as Mapping
      forget(place, found)
      found.unknown.add(place)
    } else {
      const [key, keyPlace] =
        mark.secret === 'named'
          ? [ownValue(value, 'name'), fieldPath(place, 'name')]
          : [keyOf(value.secretRef), fieldPath(fieldPath(place, 'secretRef'), 'key')]
      const wrong = complaintsAt(place, forms[mark.secret], value).filter(({ path }) => !isWithin(path, found.unknown))
      found.complaints.push(...wrong)
      if (wrong.length > 0) found.unknown.add(place)
      else if (typeof key === 'string' && !isWithin(keyPlace, found.unknown)) keys.add(key)
    }
  }
  for (const place of found.secretRefs)
    if (!isWithin(place, allowed) && !allowed.has(fieldPath(place, 'secretRef'))) {
      found.complaints.push(secretNotAllowed(place))
      found.unknown.add(place)
    }
  return { spec: clean, keys: [...keys].sort() }
}

const forms = { value: secret(), named: secretName() }

const keyOf = (ref: unknown): unknown => (isMapping(ref) ? ownValue(ref, 'key') : undefined)

/** A clear text that came from outside must not be shown as the value of an env ref either. */
function forget(place: string, found: Substitution): void {
  const places = new Set([place])
  found.uses.splice(0, found.uses.length, ...found.uses.filter(use => !isWithin(use.path, places)))
}
