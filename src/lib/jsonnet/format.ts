// `%` on strings: codes as in Python's, filled from an array, an object, or one value.
import { type FormatCode, parseFormat } from './format-codes.ts'
import type { Machine } from './machine.ts'
import { toText } from './manifest.ts'
import { wholeText } from './number.ts'
import { ObjectValue } from './object.ts'
import { characterOf, lengthOf } from './text.ts'
import { force, isArray, typeOf, type Value } from './value.ts'

export function format(pattern: string, values: Value, machine: Machine): string {
  const parts = parseFormat(pattern, machine)
  const text = values instanceof ObjectValue ? fromObject(parts, values, machine) : fromArray(parts, values, machine)
  machine.makes(text.length)
  return text
}

type Parts = readonly (string | FormatCode)[]

function fromArray(parts: Parts, values: Value, machine: Machine): string {
  const array = isArray(values) ? values : [values]
  let used = 0
  const next = () => {
    if (used >= array.length) machine.fail(`the format needs more than the ${array.length} values it is given`)
    return force(array[used++]!, machine)
  }
  const number = (given: number | '*' | null) => (given === '*' ? wholeOf(next(), machine) : given)
  const text = parts
    .map(part => {
      if (typeof part === 'string') return part
      const width = number(part.width) ?? 0
      const precision = number(part.precision)
      return padded(part, width, part.type === '%' ? '%' : written(part, width, precision, next(), machine), machine)
    })
    .join('')
  if (used < array.length) machine.fail(`the format takes ${used} values, and is given ${array.length}`)
  return text
}

function fromObject(parts: Parts, values: ObjectValue, machine: Machine): string {
  return parts
    .map(part => {
      if (typeof part === 'string') return part
      const { width, precision, key } = part
      if (width === '*' || precision === '*') return machine.fail('* in a format cannot be filled from an object')
      if (part.type === '%') return padded(part, width ?? 0, '%', machine)
      if (key === null) return machine.fail('a format that is filled from an object names its fields: %(name)s')
      const value = values.get(key, machine)
      if (value === undefined) return machine.fail(`the format names a field that the object lacks: ${key}`)
      return padded(part, width ?? 0, written(part, width ?? 0, precision, value, machine), machine)
    })
    .join('')
}

function padded({ flags }: FormatCode, width: number, text: string, machine: Machine): string {
  const missing = width - lengthOf(text)
  if (missing <= 0) return text
  machine.makes(missing)
  return flags.left ? text + ' '.repeat(missing) : ' '.repeat(missing) + text
}

/** Without the padding of the width, but with zeros up to it where the flag says so. */
function written(code: FormatCode, width: number, precision: number | null, value: Value, machine: Machine): string {
  const { type, flags } = code
  if (type === 's') return toText(value, machine)
  if (type === 'c') return character(value, machine)
  if (typeof value !== 'number') return machine.fail(`%${type} needs a number, and is given ${typeOf(value)}`)
  const zeros = flags.zero && !flags.left ? width : 0
  machine.makes(Math.max(zeros, precision ?? 0))
  switch (type) {
    case 'd':
    case 'o': {
      const digits = wholeText(Math.floor(Math.abs(value)))
      const octal = BigInt(digits).toString(8)
      const text = type === 'd' ? digits : flags.alternate && octal !== '0' ? `0${octal}` : octal
      return signed(code, value <= -1, text, zeros, precision ?? 0)
    }
    case 'x': {
      const whole = Math.floor(value)
      const text = BigInt(Math.abs(whole)).toString(16)
      const prefix = flags.alternate ? '0x' : ''
      return cased(code, signed(code, whole < 0, text, zeros - prefix.length, precision ?? 0, prefix))
    }
    case 'f':
      return decimal(code, value, zeros, precision ?? 6, true)
    case 'e':
      return cased(code, scientific(code, value, zeros, precision ?? 6, true))
    case 'g':
      return cased(code, general(code, value, zeros, Math.max(1, precision ?? 6)))
    default:
      return machine.fail(`there is no format %${type}`)
  }
}

function character(value: Value, machine: Machine): string {
  const found = typeof value === 'number' ? characterOf(value) : value
  if (typeof found === 'string' && lengthOf(found) === 1) return found
  return machine.fail('%c needs a code point or a string of one character')
}

const cased = ({ capital }: FormatCode, text: string) => (capital ? text.toUpperCase() : text)

function signed(
  code: FormatCode,
  negative: boolean,
  digits: string,
  zeros: number,
  atLeast: number,
  prefix = '',
): string {
  const { plus, blank } = code.flags
  const sign = negative ? '-' : plus ? '+' : blank ? ' ' : ''
  return sign + prefix + digits.padStart(Math.max(zeros - sign.length, atLeast), '0')
}

/** `trailing` keeps zeros at the end of the fraction. */
function decimal(code: FormatCode, value: number, zeros: number, precision: number, trailing: boolean): string {
  const scale = 10 ** precision
  // Rounded as one number, so that 0.999 carries over into the whole part.
  const scaled = Math.abs(value) * scale + 0.5
  const whole = wholeText(Math.floor(scaled / scale))
  const fraction = wholeText(Math.floor(scaled) % scale).padStart(precision, '0')
  const shown = trailing ? fraction : fraction.replace(/0+$/, '')
  const point = precision === 0 ? code.flags.alternate : trailing || shown !== ''
  const before = zeros - precision - (precision === 0 && !code.flags.alternate ? 0 : 1)
  const text = signed(code, value < 0, whole, before, 0)
  return precision === 0 ? text + (point ? '.' : '') : text + (point ? `.${shown}` : '')
}

function scientific(code: FormatCode, value: number, zeros: number, precision: number, trailing: boolean): string {
  const exponent = exponentOf(value)
  // 10 ** -324 is zero.
  const mantissa = exponent === -324 ? (value * 10) / 10 ** (exponent + 1) : value / 10 ** exponent
  const suffix = `e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`
  return decimal(code, mantissa, zeros - suffix.length, precision, trailing) + suffix
}

function general(code: FormatCode, value: number, zeros: number, precision: number): string {
  const exponent = exponentOf(value)
  const trailing = code.flags.alternate
  if (exponent < -4 || exponent >= precision) return scientific(code, value, zeros, precision - 1, trailing)
  return decimal(code, value, zeros, precision - Math.max(1, exponent + 1), trailing)
}

const exponentOf = (value: number) => (value === 0 ? 0 : Math.floor(Math.log(Math.abs(value)) / Math.log(10)))

function wholeOf(value: Value, machine: Machine): number {
  if (typeof value === 'number' && Number.isInteger(value)) return value
  return machine.fail(`* in a format needs a whole number, and is given ${typeOf(value)}`)
}
