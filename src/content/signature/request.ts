// The signature that came with the request itself: made over the 32 bytes of the root's SHA-256, by a key that is allowed
// or by that of a certificate whose chain came with it.
import type { Sha256, Trust } from '../messages.ts'
import { readCertificates } from './certificate.ts'
import { type Claim, decodeBase64, type Unusable } from './claim.ts'

const what = 'the signature of the request'

export function readRequest({ root, trust }: { root: Sha256; trust: Trust }): (Claim | Unusable)[] {
  if (trust.signature === undefined) return []
  const signature = decodeBase64(trust.signature.replace(/\s/g, ''))
  if (!signature) return [{ what, reason: 'it is not in base64' }]
  const chain = (trust.chain ?? []).map(readCertificates)
  if (!chain.every(certificates => certificates !== null))
    return [{ what, reason: 'a certificate of its chain cannot be read' }]
  return [{ what, message: Buffer.from(root, 'hex'), signature, certificates: chain.flat() }]
}
