// The types that a value from outside can have. A value may come as text, since a command line has nothing else.
import { durationOrProblem } from '../../lib/duration.ts'
import type { Json } from '../../lib/json.ts'
import { sizeOrProblem } from '../../lib/size.ts'
import { textOfNumber } from './values.ts'

export type Scalar = string | number | boolean

export const isScalar = (value: unknown): value is Scalar =>
  typeof value === 'string' || typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))

/** The value in its type, or null when it is of another. */
const readers: Readonly<Record<string, (value: Scalar) => Json>> = {
  string: value => (typeof value === 'boolean' ? null : asText(value)),
  integer: value => (/^[+-]?\d+$/.test(asText(value)) && Number.isSafeInteger(Number(value)) ? Number(value) : null),
  number: value => (/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(asText(value)) ? finite(Number(value)) : null),
  boolean: value => (['true', 'false'].includes(asText(value)) ? asText(value) === 'true' : null),
  duration: value => (typeof durationOrProblem(asText(value), '') === 'number' ? asText(value) : null),
  size: value => (typeof sizeOrProblem(asText(value), '') === 'number' ? asText(value) : null),
  time: value =>
    /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/.test(asText(value)) &&
    !Number.isNaN(Date.parse(asText(value)))
      ? asText(value)
      : null,
}

export const envTypes: readonly string[] = Object.keys(readers)

/** Without a type any scalar will do. Null when the value is of another type. */
export const readAs = (type: string | undefined, value: unknown): Json =>
  isScalar(value) ? (type === undefined ? value : (readers[type]?.(value) ?? null)) : null

const asText = (value: Scalar) => (typeof value === 'number' ? textOfNumber(value) : String(value))

const finite = (number: number) => (Number.isFinite(number) ? number : null)
