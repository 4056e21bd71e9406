// Puts values from outside in the places of envRefs. Where there is neither a value nor a default, a placeholder stands.

import type { Json } from '../../lib/json.ts'
import { fieldPath } from '../../lib/located-json.ts'
import { didYouMean } from '../../lib/suggest.ts'
import type { EnvUse } from '../model/bundle.ts'
import { envTypes, isScalar, readAs } from './env-types.ts'
import { type Complaint, envMalformed, envType, keyUnknown } from './problems.ts'
import { isMapping, type Mapping, ownValue, textOfNumber } from './values.ts'

export interface Substitution {
  readonly env: Readonly<Record<string, Json>>
  readonly uses: EnvUse[]
  /** As often as they are used. */
  readonly keys: string[]
  /** Keys without value and default. */
  readonly missing: string[]
  /** Places whose value is not known, or was complained about: nothing more is said about them. */
  readonly unknown: Set<string>
  /** Places where a secretRef stands, allowed or not. */
  readonly secretRefs: string[]
  readonly complaints: Complaint[]
}

export const startSubstitution = (env: Substitution['env']): Substitution => ({
  env,
  uses: [],
  keys: [],
  missing: [],
  unknown: new Set(),
  secretRefs: [],
  complaints: [],
})

const placeholderOf = (key: string): string => `env-${key}`

/** With every envRef replaced. Mappings in it are plain, and `__proto__` is never a key of one. */
export function substitute(value: unknown, path: string, found: Substitution): unknown {
  return isLiteral(value) ? value : substituted(value, path, found)
}

/** Nothing in it means another value; so it is with nearly all, and those need neither a copy nor the paths of their fields. */
function isLiteral(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true
  if (Array.isArray(value)) return value.every(isLiteral)
  if (Object.getPrototypeOf(value) !== Object.prototype) return false
  for (const key of Object.keys(value))
    if (key === 'envRef' || key === 'secretRef' || key === '__proto__' || !isLiteral((value as Mapping)[key]))
      return false
  return true
}

function substituted(value: unknown, path: string, found: Substitution): unknown {
  if (Array.isArray(value)) return value.map((item, index) => substituted(item, fieldPath(path, index), found))
  if (!isMapping(value)) return value
  if (Object.hasOwn(value, 'envRef')) return resolve(value, path, found)
  if (Object.hasOwn(value, 'secretRef') && Object.keys(value).length === 1) found.secretRefs.push(path)
  const entries: [string, unknown][] = []
  for (const [key, item] of Object.entries(value)) {
    const place = fieldPath(path, key)
    if (key === '__proto__') found.complaints.push(keyUnknown(place, key, []))
    else entries.push([key, substituted(item, place, found)])
  }
  return Object.fromEntries(entries)
}

function resolve(value: Mapping, path: string, found: Substitution): Json {
  const complaints = formProblems(value, path)
  if (complaints.length > 0) {
    found.complaints.push(...complaints)
    found.unknown.add(path)
    return null
  }
  const ref = value.envRef as { key: string | number; default?: Json; type?: string }
  const key = typeof ref.key === 'number' ? textOfNumber(ref.key) : ref.key
  const supplied = Object.hasOwn(found.env, key) ? found.env[key] : undefined
  const given = supplied ?? ref.default
  const isKnown = given !== undefined
  const read = isKnown ? readAs(ref.type, given) : placeholderOf(key)
  found.keys.push(key)
  if (!isKnown) found.missing.push(key)
  if (read === null)
    found.complaints.push(envType(path, key, `must be ${ref.type === undefined ? 'a scalar' : `of type ${ref.type}`}`))
  if (!isKnown || read === null) found.unknown.add(path)
  found.uses.push({
    path,
    key,
    ...(ref.type !== undefined && { type: ref.type }),
    value: read,
    ...(ref.default !== undefined && { default: ref.default }),
  })
  return read
}

const refKeys = ['key', 'default', 'type']

function formProblems(value: Mapping, path: string): Complaint[] {
  const at = fieldPath(path, 'envRef')
  const beside = Object.keys(value).filter(key => key !== 'envRef')
  if (beside.length > 0)
    return beside.map(key =>
      envMalformed(fieldPath(path, key), `nothing may stand beside envRef, as ${key} does`, 'key'),
    )
  const ref = value.envRef
  if (!isMapping(ref)) return [envMalformed(at, 'envRef must be a mapping with a key', 'value')]
  const extra = Object.keys(ref).filter(key => !refKeys.includes(key))
  if (extra.length > 0)
    return extra.map(key => ({
      ...envMalformed(fieldPath(at, key), `envRef has no ${JSON.stringify(key)}`, 'key'),
      ...hintOf(didYouMean(key, refKeys)),
    }))
  const complaints: Complaint[] = []
  const { key, type } = { key: ownValue(ref, 'key'), type: ownValue(ref, 'type') }
  if (!(typeof key === 'number' || (typeof key === 'string' && key !== '')))
    complaints.push(envMalformed(fieldPath(at, 'key'), 'envRef needs a key', key === undefined ? 'key' : 'value'))
  if (type !== undefined && !(typeof type === 'string' && envTypes.includes(type)))
    complaints.push({
      ...envMalformed(fieldPath(at, 'type'), `type must be one of ${envTypes.join(', ')}`, 'value'),
      ...hintOf(typeof type === 'string' ? didYouMean(type, envTypes) : undefined),
    })
  if (Object.hasOwn(ref, 'default') && !isScalar(ref.default))
    complaints.push(envMalformed(fieldPath(at, 'default'), 'default must be text, a number or a boolean', 'value'))
  return complaints
}

const hintOf = (hint: string | undefined) => (hint ? { hint } : {})
