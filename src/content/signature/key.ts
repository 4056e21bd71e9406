// Public keys and the signatures they made: RSA (PKCS#1 v1.5 and PSS), ECDSA on the NIST curves (DER, or r and s side by
// side in exactly the curve's length), Ed25519. What cannot be checked is not good; nothing here throws.
import { constants, createPublicKey, type KeyObject, verify } from 'node:crypto'
import { sha256Hex } from '../../lib/json.ts'

interface Curve {
  /** Bytes of r and of s. */
  readonly half: number
  readonly hashes: readonly string[]
}

// The hash that fits the curve, and SHA-256, which cosign takes for every curve.
const curves: ReadonlyMap<string, Curve> = new Map([
  ['prime256v1', { half: 32, hashes: ['sha256'] }],
  ['secp384r1', { half: 48, hashes: ['sha384', 'sha256'] }],
  ['secp521r1', { half: 66, hashes: ['sha512', 'sha256'] }],
])

/** A text is the reason why it is none that counts. */
export function readPublicKey(pem: string): KeyObject | string {
  if (pem.includes('PRIVATE KEY')) return 'it is a private key'
  try {
    const key = createPublicKey(pem)
    return weaknessOf(key) ?? key
  } catch {
    return 'it is no public key in PEM'
  }
}

/** Null when it is as strong as it has to be. */
export function weaknessOf(key: KeyObject): string | null {
  const { modulusLength = 0, namedCurve = '' } = key.asymmetricKeyDetails ?? {}
  switch (key.asymmetricKeyType) {
    case 'rsa':
    case 'rsa-pss':
      return modulusLength >= 2048 ? null : `an RSA key of ${modulusLength} bits is too short`
    case 'ec':
      return curves.has(namedCurve) ? null : `the curve ${namedCurve} is not used here`
    case 'ed25519':
      return null
    default:
      return `keys of type ${key.asymmetricKeyType} are not used here`
  }
}

export function hasSigned(key: KeyObject, message: Uint8Array, signature: Buffer): boolean {
  if (weaknessOf(key)) return false
  try {
    return verifiers(key, signature).some(verifier => verifier(message))
  } catch {
    return false
  }
}

/** `key sha256:0123456789abcdef`: the start of the hash of the key's DER, as `openssl pkey -pubin -outform der | sha256sum` prints it. */
export const nameOfKey = (key: KeyObject): string =>
  `key sha256:${sha256Hex(key.export({ type: 'spki', format: 'der' })).slice(0, 16)}`

type Verifier = (message: Uint8Array) => boolean

function verifiers(key: KeyObject, signature: Buffer): Verifier[] {
  const type = key.asymmetricKeyType
  if (type === 'ed25519') return signature.length === 64 ? [message => verify(null, message, key, signature)] : []
  if (type === 'ec') return ecdsaVerifiers(key, signature)
  const pss = { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_AUTO }
  const forms = type === 'rsa' ? [{ key, padding: constants.RSA_PKCS1_PADDING }, pss] : [pss]
  return forms.map(form => message => verify('sha256', message, form, signature))
}

function ecdsaVerifiers(key: KeyObject, signature: Buffer): Verifier[] {
  const curve = curves.get(key.asymmetricKeyDetails?.namedCurve ?? '')
  if (!curve) return []
  const encodings: ('ieee-p1363' | 'der')[] = []
  if (signature.length === 2 * curve.half) encodings.push('ieee-p1363')
  if (signature[0] === 0x30) encodings.push('der')
  return encodings.flatMap(dsaEncoding =>
    curve.hashes.map(hash => (message: Uint8Array) => verify(hash, message, { key, dsaEncoding }, signature)),
  )
}
