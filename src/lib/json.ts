// Values that can be written as JSON, and their one canonical spelling: sorted keys, no space, no floats unless asked for.
import { createHash } from 'node:crypto'

export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json | undefined }

/** The same text for equal values, in any key order, on any machine. A key whose value is undefined is left out. */
export function canonicalJson(value: Json, numbers: 'integers' | 'any number' = 'integers'): string {
  if (typeof value === 'number' && !(numbers === 'integers' ? Number.isSafeInteger(value) : Number.isFinite(value)))
    throw new TypeError(`canonical JSON has no place for the number ${value}`)
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(item => canonicalJson(item, numbers)).join(',')}]`
  const fields = value as { readonly [key: string]: Json | undefined }
  let text = ''
  for (const key of Object.keys(fields).sort()) {
    const field = fields[key]
    if (field !== undefined) text += `${text && ','}${JSON.stringify(key)}:${canonicalJson(field, numbers)}`
  }
  return `{${text}}`
}

export const sha256Hex = (bytes: string | Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
