// What a plain scalar means: the core schema of YAML 1.2.

/** Not that it is wrong: only that it takes a whole parser to say. */
export const notPlain = Symbol('not plain YAML')

/** Throws `notPlain` at numbers in any but the plainest spelling. */
export function plainScalar(text: string): unknown {
  const first = text.charCodeAt(0)
  if (first <= 57) {
    if (integer.test(text)) return Number(text)
    if (otherNumber.test(text)) throw notPlain
    return text
  }
  switch (text) {
    case '~':
    case 'null':
    case 'Null':
    case 'NULL':
      return null
    case 'true':
    case 'True':
    case 'TRUE':
      return true
    case 'false':
    case 'False':
    case 'FALSE':
      return false
    default:
      return text
  }
}
const integer = /^(?:0|-?[1-9]\d{0,14})$/
const otherNumber =
  /^(?:[-+]?(?:\.\d+|\d+\.?\d*)(?:[eE][-+]?\d+)?|[-+]?\.(?:inf|Inf|INF)|0o[0-7]+|0x[\da-fA-F]+|\.(?:nan|NaN|NAN))$/
