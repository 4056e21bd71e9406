// A request body as JSON: UTF-8 or nothing, not deeper than a limit, no key twice, no text that a database cannot keep.
// The text is walked once, without recursion, so that no body can cost more than its length.
import { deeperAt, stringEnd } from '../lib/json-brackets.ts'
import type { Problem } from '../lib/problem.ts'

export type Body = { readonly value: unknown; readonly text: string } | { readonly problem: Problem }

const unreadable = (reason: string): { problem: Problem } => ({
  problem: { code: 'request.unreadable', path: '', reason },
})

export function readText(bytes: Uint8Array): { readonly text: string } | { readonly problem: Problem } {
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) }
  } catch {
    return unreadable('the body is not UTF-8')
  }
}

export function readJsonBody(bytes: Uint8Array, { depth }: { readonly depth: number }): Body {
  const read = readText(bytes)
  if ('problem' in read) return read
  const { text } = read
  // Depth first: it also keeps the parser and every later walk from running out of stack.
  if (deeperAt(text, depth) !== undefined)
    return { problem: { code: 'limit.depth', path: '', reason: `the body is nested deeper than ${depth}` } }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return unreadable('the body is not JSON')
  }
  const problem = badString(text)
  return problem ? { problem } : { value, text }
}

/** The text is JSON. Keys: once each, and none that names a prototype. Every string: no NUL, no half of a surrogate pair. */
function badString(text: string): Problem | null {
  const keys: (Set<string> | null)[] = []
  for (let at = 0; at < text.length; at++) {
    const char = text[at]
    if (char === '{') keys.push(new Set())
    else if (char === '[') keys.push(null)
    else if (char === '}' || char === ']') keys.pop()
    else if (char === '"') {
      const end = stringEnd(text, at)
      const raw = text.slice(at + 1, end)
      const string = raw.includes('\\') ? (JSON.parse(`"${raw}"`) as string) : raw
      if (string.includes('\0') || !string.isWellFormed())
        return { code: 'request.unreadable', path: '', reason: 'a text in the body holds a character that is none' }
      at = end
      const known = keys.at(-1)
      if (!known || !colonFollows(text, end + 1)) continue
      if (string === '__proto__')
        return { code: 'request.unknown-key', path: string, reason: `"${string}" cannot be a key` }
      if (known.has(string))
        return { code: 'request.given-twice', path: string, reason: `the key "${string}" stands twice in one object` }
      known.add(string)
    }
  }
  return null
}

function colonFollows(text: string, from: number): boolean {
  let at = from
  while (' \t\r\n'.includes(text[at] ?? 'x')) at++
  return text[at] === ':'
}
