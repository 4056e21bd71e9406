// The names of the verifier's files. A name carries what must survive a reboot; one that this file did not make is not read
// as one of ours (null), and who finds it leaves it alone.
import { randomHex } from '../half-made.ts'
import { mediaTypeSchema, type Sha256, sha256Schema } from '../messages.ts'

export interface BlobName {
  readonly sha256: Sha256
  readonly mediaType: string
}

/** In verified/: `<sha256>.<escaped media type>`. */
export const verifiedNameOf = ({ sha256, mediaType }: BlobName): string => `${sha256}.${escapeMediaType(mediaType)}`

export function parseVerifiedName(name: string): BlobName | null {
  const sha256 = sha256Schema.safeParse(name.slice(0, 64))
  const mediaType = mediaTypeSchema.safeParse(unescapeMediaType(name.slice(65)))
  if (!sha256.success || !mediaType.success) return null
  const blob = { sha256: sha256.data, mediaType: mediaType.data }
  return verifiedNameOf(blob) === name ? blob : null
}

const randomLength = 12

/** In verifier/: random, because two different bodies may claim one digest. */
export const copyNameOf = (blob: BlobName, random: () => number): string =>
  `${randomHex(random)}.${verifiedNameOf(blob)}`

export const isCopyName = (name: string): boolean =>
  /^[0-9a-f]{12}\./.test(name) && parseVerifiedName(name.slice(randomLength + 1)) !== null

/** File systems take names of 255 bytes, and the copy's is the longest. */
export const nameFits = (mediaType: string): boolean =>
  randomLength + 1 + 64 + 1 + escapeMediaType(mediaType).length <= 255

/** In quarantine/: `<sha256 it should have had>.<time>.bad`; names of one digest sort by time. */
export const quarantineNameOf = (sha256: Sha256, time: Date): string =>
  `${sha256}.${time.toISOString().replace(/[-:.]/g, '')}.bad`

/** The time as it is written, or null for a foreign name. */
export const quarantinedAt = (name: string): string | null =>
  /^[0-9a-f]{64}\.(\d{8}T\d{9}Z)\.bad$/.exec(name)?.[1] ?? null

/** In certs/, by the digest of the DER. */
export const certificateNameOf = (fingerprint: Sha256): string => `${fingerprint}.pem`

export const isCertificateName = (name: string): boolean => /^[0-9a-f]{64}\.pem$/.test(name)

function escapeMediaType(mediaType: string): string {
  let text = ''
  for (const byte of Buffer.from(mediaType)) {
    const character = String.fromCharCode(byte)
    text += /[a-z0-9.+-]/.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
  }
  return text
}

const unescapeMediaType = (text: string): string =>
  text.replace(/%([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
