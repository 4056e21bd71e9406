// Equality and one spelling of plain data, in any order of keys. A key whose value is undefined is not there.
import type { Json } from '../../lib/json.ts'

export type Fields = { readonly [key: string]: Json | undefined }

export const isFields = (value: Json | undefined): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Own keys only, so that a key such as `constructor` is data like any other. */
export const fieldIn = (value: Fields | undefined, key: string): Json | undefined =>
  value !== undefined && Object.hasOwn(value, key) ? value[key] : undefined

export function isEqual(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true
  if (Array.isArray(a))
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => isEqual(item, b[index]))
  if (!isFields(a) || !isFields(b)) return false
  let count = 0
  for (const key in a) {
    if (a[key] === undefined) continue
    if (!isEqual(a[key], fieldIn(b, key))) return false
    count++
  }
  for (const key in b) if (b[key] !== undefined) count--
  return count === 0
}

/** Unlike lib/json.ts it takes every finite number: specs may have fractions. */
export function stableText(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(stableText).join(',')}]`
  if (!isFields(value)) return JSON.stringify(value)
  let text = ''
  for (const key of Object.keys(value).sort()) {
    const field = value[key]
    if (field !== undefined) text += `${text && ','}${JSON.stringify(key)}:${stableText(field)}`
  }
  return `{${text}}`
}
