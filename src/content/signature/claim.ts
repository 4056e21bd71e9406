// What a signature says before anyone has looked whether it is true: these bytes were signed by somebody, and they mean
// the root in question. Each form of signature has a reader that gives claims; judge.ts alone decides about them.
import type { Certificate } from './certificate.ts'

export interface Claim {
  /** For reasons: `the signature of the request`, `the cosign signature 0123…`. */
  readonly what: string
  readonly message: Uint8Array
  readonly signature: Buffer
  /** That came with it: the leaf first, then its issuers. Empty when only a key can tell. */
  readonly certificates: readonly Certificate[]
}

/** There is a signature, and it cannot be good. */
export interface Unusable {
  readonly what: string
  readonly reason: string
}

/** Strict: what does not spell exactly these bytes is null, and so is nothing at all. */
export function decodeBase64(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64')
  return bytes.length > 0 && bytes.toString('base64') === text ? bytes : null
}
