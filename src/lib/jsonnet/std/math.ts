// std: numbers.
import { binary, compare, finite } from '../operators.ts'
import type { Value } from '../value.ts'
import type { Call, Natives } from './define.ts'

export const pi = Math.PI

export const math: Natives = {
  'abs(n)': call => Math.abs(call.number(0)),
  'sign(n)': call => Math.sign(call.number(0)) || 0,
  'max(a, b)': call => Math.max(call.number(0), call.number(1)),
  'min(a, b)': call => Math.min(call.number(0), call.number(1)),
  'clamp(x, minVal, maxVal)': call => {
    const [x, low, high] = [call.value(0), call.value(1), call.value(2)]
    if (compare(x, low, call.machine) < 0) return low
    return compare(x, high, call.machine) > 0 ? high : x
  },
  'pow(x, n)': call => finite(call.number(0) ** call.number(1), call.machine),
  'exp(x)': on(Math.exp),
  'log(x)': on(Math.log),
  'log2(x)': on(x => Math.log(x) / Math.log(2)),
  'log10(x)': on(x => Math.log(x) / Math.log(10)),
  'sqrt(x)': on(Math.sqrt),
  'sin(x)': on(Math.sin),
  'cos(x)': on(Math.cos),
  'tan(x)': on(Math.tan),
  'asin(x)': on(Math.asin),
  'acos(x)': on(Math.acos),
  'atan(x)': on(Math.atan),
  'atan2(y, x)': call => Math.atan2(call.number(0), call.number(1)),
  'hypot(a, b)': call => finite(Math.sqrt(call.number(0) ** 2 + call.number(1) ** 2), call.machine),
  'deg2rad(x)': on(x => (x * pi) / 180),
  'rad2deg(x)': on(x => (x * 180) / pi),
  'floor(x)': on(Math.floor),
  'ceil(x)': on(Math.ceil),
  'round(x)': on(round),
  'isEven(x)': call => round(call.number(0)) % 2 === 0,
  'isOdd(x)': call => round(call.number(0)) % 2 !== 0,
  'isInteger(x)': call => round(call.number(0)) === call.number(0),
  'isDecimal(x)': call => round(call.number(0)) !== call.number(0),
  'exponent(x)': call => apart(call.number(0)).exponent,
  'mantissa(x)': call => apart(call.number(0)).mantissa,
  'modulo(a, b)': call => binary['%'](call.number(0), call.number(1), call.machine, null),
  'xor(x, y)': call => call.boolean(0) !== call.boolean(1),
  'xnor(x, y)': call => call.boolean(0) === call.boolean(1),
}

function on(compute: (x: number) => number): (call: Call) => Value {
  return call => finite(compute(call.number(0)), call.machine)
}

function round(x: number): number {
  return Math.floor(x + 0.5)
}

/** x = mantissa * 2 ** exponent, the mantissa at least a half and less than one. */
function apart(x: number): { mantissa: number; exponent: number } {
  if (x === 0) return { mantissa: x, exponent: 0 }
  let exponent = Math.floor(Math.log2(Math.abs(x))) + 1
  // In two steps, since 2 ** -exponent can be out of range where the result is not.
  let mantissa = x / 2 ** Math.trunc(exponent / 2) / 2 ** (exponent - Math.trunc(exponent / 2))
  if (Math.abs(mantissa) >= 1) {
    mantissa /= 2
    exponent++
  } else if (Math.abs(mantissa) < 0.5) {
    mantissa *= 2
    exponent--
  }
  return { mantissa, exponent }
}
