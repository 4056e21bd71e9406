// Checksums as people write them: `sha256:<hex>`, or an SRI string (`sha256-<base64>`, several separated by spaces).
// Of several, those of the strongest algorithm count, and one of them has to match.

export interface Checksum {
  readonly algorithm: 'sha256' | 'sha384' | 'sha512'
  /** Lower-case hex, sorted, at least one. */
  readonly digests: readonly string[]
}

const lengths = { sha256: 32, sha384: 48, sha512: 64 } as const
const strongestFirst = ['sha512', 'sha384', 'sha256'] as const

/** Null when it is none: unknown algorithm, wrong length, stray characters. */
export function parseChecksum(text: string): Checksum | null {
  const parsed = text.trim().split(/\s+/).map(parseOne)
  if (parsed.includes(null)) return null
  const known = parsed.filter(one => one !== null)
  const algorithm = strongestFirst.find(name => known.some(one => one.algorithm === name))
  if (!algorithm) return null
  const digests = known.filter(one => one.algorithm === algorithm).map(one => one.digest)
  return { algorithm, digests: [...new Set(digests)].sort() }
}

/** One spelling for equal checksums. */
export const spellChecksum = ({ algorithm, digests }: Checksum): string =>
  digests.map(digest => `${algorithm}:${digest}`).join(' ')

function parseOne(text: string): { algorithm: Checksum['algorithm']; digest: string } | null {
  const [, name, separator, encoded] = /^(sha256|sha384|sha512)([:-])([A-Za-z0-9+/]+={0,2})$/.exec(text) ?? []
  if (!name || !encoded) return null
  const algorithm = name as Checksum['algorithm']
  const bytes = Buffer.from(encoded, separator === ':' ? 'hex' : 'base64')
  // Decoding forgives stray characters; what it made of the text must be the text.
  const again =
    separator === ':' ? bytes.toString('hex') === encoded.toLowerCase() : bytes.toString('base64') === encoded
  return again && bytes.length === lengths[algorithm] ? { algorithm, digest: bytes.toString('hex') } : null
}
