import type { Json } from '../lib/json.ts'
import type { Spec } from '../resources/kind.ts'

/** The same spec with another value at this path, which is there. */
export function replacedAt(spec: Spec, path: readonly (string | number)[], value: Json): Spec {
  return replaced(spec as Json, path, value) as Spec
}

function replaced(whole: Json, [key, ...rest]: readonly (string | number)[], value: Json): Json {
  if (key === undefined) return value
  if (Array.isArray(whole)) return whole.map((item, index) => (index === key ? replaced(item, rest, value) : item))
  const fields = whole as Readonly<Record<string, Json>>
  return { ...fields, [key]: replaced(fields[key] ?? null, rest, value) }
}
