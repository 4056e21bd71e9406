// Values that can be written as JSON: their one canonical spelling (sorted keys, no space, no floats unless asked for), and
// equality in any order of keys. A key whose value is undefined is not there.
import { createHash } from 'node:crypto'

export type Json = string | number | boolean | null | readonly Json[] | Fields
export type Fields = { readonly [key: string]: Json | undefined }

export const isFields = (value: Json | undefined): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Own keys only, so that a key such as `constructor` is data like any other. */
export const fieldIn = (value: Fields | undefined, key: string): Json | undefined =>
  value !== undefined && Object.hasOwn(value, key) ? value[key] : undefined

/** The same text for equal values, on any machine. */
export function canonicalJson(value: Json, numbers: 'integers' | 'any number' = 'integers'): string {
  if (typeof value === 'number' && !(numbers === 'integers' ? Number.isSafeInteger(value) : Number.isFinite(value)))
    throw new TypeError(`canonical JSON has no place for the number ${value}`)
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(item => canonicalJson(item, numbers)).join(',')}]`
  const fields = value as Fields
  let text = ''
  for (const key of Object.keys(fields).sort()) {
    const field = fields[key]
    if (field !== undefined) text += `${text && ','}${JSON.stringify(key)}:${canonicalJson(field, numbers)}`
  }
  return `{${text}}`
}

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

export const sha256Hex = (bytes: string | Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
