// Strings are sequences of code points in Jsonnet and of UTF-16 units in JavaScript. For most texts these are the same.

const surrogate = /[\uD800-\uDFFF]/

/** The text that was last taken apart: programs walk through one character by character. */
let last: { text: string; points: readonly string[] | null } = { text: '', points: null }

/** Null when every unit of the text is a code point. */
function pointsOf(text: string): readonly string[] | null {
  if (text !== last.text) last = { text, points: surrogate.test(text) ? Array.from(text) : null }
  return last.points
}

export function lengthOf(text: string): number {
  return pointsOf(text)?.length ?? text.length
}

export function characterAt(text: string, index: number): string | undefined {
  return (pointsOf(text) ?? text)[index]
}

export function charactersOf(text: string): string[] {
  return Array.from(text)
}

export function sliceOf(text: string, from: number, to: number): string {
  return pointsOf(text)?.slice(from, to).join('') ?? text.slice(from, to)
}

/** Null when there is no such code point. */
export function characterOf(point: number): string | null {
  return Number.isInteger(point) && point >= 0 && point <= 0x10ffff ? String.fromCodePoint(point) : null
}

/** By code points: a unit of a pair comes after every unit that stands alone. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const left = a.charCodeAt(i)
    const right = b.charCodeAt(i)
    if (left !== right) return rank(left) - rank(right)
  }
  return a.length - b.length
}

const rank = (unit: number) => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit)
