// What must not be shown is taken out here: credentials from text, control characters from whatever came from outside.
// A secret that Cairn holds itself travels as a Secret and is never text; redact() is the net for messages of others.
import { inspect, stripVTControlCharacters } from 'node:util'

const hidden = '[hidden]'

/** Holds a value that tells itself to nobody: no log, template or JSON text shows it. */
export class Secret {
  readonly #value: string

  constructor(value: string) {
    this.#value = value
  }

  /** Call it where the value is used, and keep the result in no variable that outlives the call. */
  reveal(): string {
    return this.#value
  }

  toString(): string {
    return hidden
  }

  toJSON(): string {
    return hidden
  }

  [inspect.custom](): string {
    return hidden
  }
}

const urls = /\b([a-z][a-z0-9+.-]{0,30}:\/\/)([^\s"'<>`\\]+)/gi
const headers = /\b((?:proxy-)?authorization|(?:set-)?cookie|x-[a-z-]*(?:token|key|secret))("?\s*[:=]\s*)[^\r\n]+/gi
const schemes = /\b(bearer|basic)\s+[a-z0-9+/=._~-]{6,}/gi
const assignments =
  /\b([\w-]*(?:password|passwd|secret|token|api[_-]?key|access[_-]?key))("?\s*[=:]\s*"?)([^\s"',;&]+)/gi
const knownTokens =
  /\b(?:gh[pousr]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|npm_\w{30,}|xox[abprs]-[\w-]{10,}|(?:AKIA|ASIA)[A-Z0-9]{16}|eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*|AGE-SECRET-KEY-1[A-Z0-9]+)/g
const privateKeys = /-----BEGIN ([A-Z ]*PRIVATE KEY)-----[\s\S]*?(?:-----END \1-----|$)/g

/** Takes credentials out of text that somebody else wrote: an error of a library, the output of a program. */
export function redact(text: string): string {
  return withoutControls(text)
    .replace(privateKeys, hidden)
    .replace(urls, (_, scheme: string, rest: string) => scheme + withoutCredentials(rest))
    .replace(headers, `$1$2${hidden}`)
    .replace(schemes, `$1 ${hidden}`)
    .replace(assignments, `$1$2${hidden}`)
    .replace(knownTokens, hidden)
}

/** userinfo, query and fragment go; a closing bracket or full stop of the sentence around it stays. */
function withoutCredentials(rest: string): string {
  const end = rest.search(/[?#]/)
  const body = end < 0 ? rest : rest.slice(0, end)
  const tail = end < 0 ? '' : (/[).,;:\]]*$/.exec(rest.slice(end))?.[0] ?? '')
  const path = body.indexOf('/')
  const host = path < 0 ? body : body.slice(0, path)
  return host.slice(host.lastIndexOf('@') + 1) + (path < 0 ? '' : body.slice(path)) + tail
}

// Line feed and tab are text. U+2028, U+2029 and the direction marks can reorder what a reader sees.
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g

/** Text from outside that is safe on a terminal: it can neither move the cursor nor change how the rest is read. */
export function withoutControls(text: string): string {
  return stripVTControlCharacters(text).replace(controls, '')
}

/** The same for every string in a value; the shape stays. */
export function withoutControlsDeep<Value>(value: Value): Value {
  return cleaned(value) as Value
}

function cleaned(value: unknown): unknown {
  if (typeof value === 'string') return withoutControls(value)
  if (Array.isArray(value)) return value.map(cleaned)
  if (value === null || typeof value !== 'object' || value instanceof Date) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [withoutControls(key), cleaned(item)]))
}
