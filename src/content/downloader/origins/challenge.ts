// WWW-Authenticate (RFC 9110, section 11): what a server wants to see before it gives anything. Pure. Text that is no
// challenge is left out, and never an error: whoever finds nothing usable says so.

export interface Challenge {
  /** In lower case: `basic`, `bearer`. */
  readonly scheme: string
  /** Names in lower case; of a repeated one the first counts. */
  readonly parameters: ReadonlyMap<string, string>
}

/** Reads as far as it makes sense. */
export function parseChallenges(header: string): Challenge[] {
  const challenges: { scheme: string; parameters: Map<string, string> }[] = []
  let rest = header
  const take = (pattern: RegExp) => {
    const match = pattern.exec(rest)
    if (match) rest = rest.slice(match[0].length)
    return match
  }
  for (;;) {
    take(/^[\s,]+/)
    const [, name, quoted, bare] = take(parameter) ?? []
    const current = challenges.at(-1)
    if (name !== undefined && current) {
      const key = name.toLowerCase()
      const value = bare ?? quoted?.replace(/\\(.)/g, '$1') ?? ''
      if (!current.parameters.has(key)) current.parameters.set(key, value)
      continue
    }
    const [, scheme] = (name === undefined && take(schemeName)) || []
    if (scheme === undefined) return challenges
    challenges.push({ scheme: scheme.toLowerCase(), parameters: new Map() })
    take(token68)
  }
}

const parameter = /^([!#$%&'*+.^_`|~\w-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([!#$%&'*+.^_`|~\w-]+)(?=\s*(?:,|$)))/
const schemeName = /^([!#$%&'*+.^_`|~\w-]+)(?=[\s,]|$)/
const token68 = /^\s+[\w.~+/-]+=*(?=\s*(?:,|$))/
