// Small questions about plain data of unknown shape. Keys of the data are never looked up through a prototype.
import type { FieldPath } from '../../resources/fields.ts'

export type Mapping = { readonly [key: string]: unknown }

export const isMapping = (value: unknown): value is Mapping =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const ownValue = (mapping: Mapping, key: string): unknown =>
  Object.hasOwn(mapping, key) ? mapping[key] : undefined

export const withoutKeys = (mapping: Mapping, keys: readonly string[]): Mapping =>
  Object.fromEntries(Object.entries(mapping).filter(([key]) => !keys.includes(key)))

/** A copy in which one place has another value; the rest is shared. The place must exist. */
export function replaceAt(value: unknown, path: FieldPath, made: (old: unknown) => unknown): unknown {
  const [part, ...rest] = path
  if (part === undefined) return made(value)
  if (Array.isArray(value)) return value.map((item, index) => (index === part ? replaceAt(item, rest, made) : item))
  const entries = Object.entries(value as Mapping)
  return Object.fromEntries(entries.map(([key, item]) => [key, key === part ? replaceAt(item, rest, made) : item]))
}

/** Spelled paths, asked by place: is it one of these, or inside of one? */
export const isWithin = (path: string, places: ReadonlySet<string>): boolean =>
  places.size > 0 && (places.has(path) || isBelow(path, places))

export function isBelow(path: string, places: ReadonlySet<string>): boolean {
  for (let end = path.length - 1; end > 0; end--)
    if ((path[end] === '.' || path[end] === '[') && places.has(path.slice(0, end))) return true
  return false
}

/** The digits of a number, without exponent: 1e21 is written out. */
export function textOfNumber(number: number): string {
  const [mantissa = '', exponent] = String(number).split('e')
  if (exponent === undefined) return mantissa
  const [, sign = '', whole = '', decimals = ''] = /^(-?)(\d+)\.?(\d*)$/.exec(mantissa) ?? []
  const digits = whole + decimals
  const point = whole.length + Number(exponent)
  return point > 0 ? sign + digits.padEnd(point, '0') : `${sign}0.${'0'.repeat(-point)}${digits}`
}
