// JSON seen by its brackets and quotes alone: linear, without recursion, before or instead of a parser.

/** Where the nesting goes beyond the limit; undefined when it does not. In text that is no JSON the answer does not matter. */
export function deeperAt(text: string, limit: number): number | undefined {
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at)
    if (char === quote) at = stringEnd(text, at)
    else if (char === openList || char === openObject) depth++
    else if (char === closeList || char === closeObject) depth--
    if (depth > limit) return at
  }
  return undefined
}

/** Of the closing quote: the first with an even number of backslashes before it. Long strings are not walked. */
export function stringEnd(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let slashes = 0
    while (text.charCodeAt(end - 1 - slashes) === backslash) slashes++
    if (slashes % 2 === 0) return end
  }
  return text.length
}

const quote = 0x22
const backslash = 0x5c
const openList = 0x5b
const closeList = 0x5d
const openObject = 0x7b
const closeObject = 0x7d
