// Places in plain data, by the path that Problems and env refs are spelt with.
import type { Json } from '../../lib/json.ts'
import type { FieldPath } from '../../resources/fields.ts'

/** `spec.parts[2]["a.b"]` as its parts; the way back of lib/located-json.ts fieldPath. */
export function parsePath(path: string): (string | number)[] {
  return [...path.matchAll(/\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]|([^.[\]]+)/g)].map(([, index, quoted, plain]) =>
    index !== undefined ? Number(index) : quoted !== undefined ? (JSON.parse(quoted) as string) : (plain ?? ''),
  )
}

export function atPath(value: unknown, path: FieldPath): unknown {
  let at: unknown = value
  for (const part of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, part)) return undefined
    at = (at as Record<string | number, unknown>)[part]
  }
  return at
}

/** A copy with another value at the place; what is beside the way there is shared. */
export function putAt(value: Json | undefined, path: FieldPath, put: Json): Json {
  const [part, ...rest] = path
  if (part === undefined) return put
  if (Array.isArray(value)) return value.map((item, index) => (index === part ? putAt(item, rest, put) : item))
  const fields = (value ?? {}) as { readonly [key: string]: Json | undefined }
  return { ...fields, [part]: putAt(fields[part], rest, put) }
}
