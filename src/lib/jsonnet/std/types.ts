// std: what a value is, whether two are equal, and the words with the outside.

import { printSite } from '../failure.ts'
import { quoted, toText } from '../manifest.ts'
import { binary, compare, equals } from '../operators.ts'
import { type TypeName, typeOf, type Value } from '../value.ts'
import { type Call, type Natives, sizeOf } from './define.ts'

export const types: Natives = {
  'type(x)': call => typeOf(call.value(0)),
  'isArray(v)': is('array'),
  'isBoolean(v)': is('boolean'),
  'isFunction(v)': is('function'),
  'isNull(v)': is('null'),
  'isNumber(v)': is('number'),
  'isObject(v)': is('object'),
  'isString(v)': is('string'),
  'length(x)': call => sizeOf(call.value(0)) ?? call.fail(`${typeOf(call.value(0))} has no length`),
  'toString(a)': call => toText(call.value(0), call.machine),
  'equals(a, b)': call => equals(call.value(0), call.value(1), call.machine),
  'primitiveEquals(a, b)': call => {
    const [a, b] = [call.value(0), call.value(1)]
    if (typeOf(a) !== typeOf(b)) return false
    if (a !== null && typeof a === 'object') return call.fail(`${typeOf(a)} is not primitive`)
    return a === b
  },
  '__compare(v1, v2)': call => Math.sign(compare(call.value(0), call.value(1), call.machine)),
  'assertEqual(a, b)': call => {
    const [a, b] = [call.value(0), call.value(1)]
    if (equals(a, b, call.machine)) return true
    return call.fail(`${shown(call, a)} != ${shown(call, b)}`)
  },
  'mod(a, b)': call => binary['%'](call.value(0), call.value(1), call.machine, null),
  'format(str, vals)': call => binary['%'](call.string(0), call.value(1), call.machine, null),
  'trace(str, rest)': call => {
    const { site } = call.machine
    call.machine.trace(
      `TRACE: ${site ? `${printSite({ file: site.file, offset: site.offset })} ` : ''}${call.string(0)}`,
    )
    return call.value(1)
  },
  'extVar(x)': call => {
    const value = call.machine.extVars.get(call.string(0))
    return value ?? call.fail(`there is no external variable ${call.string(0)}`)
  },
  // Functions of the host; there are none.
  'native(name)': () => null,
}

function is(type: TypeName): (call: Call) => boolean {
  return call => typeOf(call.value(0)) === type
}

const shown = (call: Call, value: Value) => (typeof value === 'string' ? quoted(value) : toText(value, call.machine))
