// A certificate with the rules it carries: whether it may sign others, how many may stand below it, what its key is for.
import { X509Certificate } from 'node:crypto'
import { withoutControls } from '../../lib/redact.ts'
import { type DerValue, derTags, readDer, readOid, readSequence } from './der.ts'

export interface Certificate {
  readonly x509: X509Certificate
  readonly rules: CertificateRules
}

export interface CertificateRules {
  readonly isAuthority: boolean
  /** How many authorities may stand between this one and the leaf; null: any number. */
  readonly pathLength: number | null
  /** Null: not limited. */
  readonly keyUsage: { readonly signsData: boolean; readonly signsCertificates: boolean } | null
  /** OIDs of the extended key usage. Null: not limited. */
  readonly purposes: readonly string[] | null
  /** Marked as critical and not known here: such a certificate must not be relied on. */
  readonly unknownCritical: readonly string[]
  /** Made by Fulcio for one signature of somebody who logged in. */
  readonly isKeyless: boolean
}

/** All certificates in a PEM text, in its order; null when it has none or one cannot be read. */
export function readCertificates(pem: string): Certificate[] | null {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? []
  const read = blocks.map(readCertificate)
  return read.length > 0 && read.every(certificate => certificate !== null) ? read : null
}

/** One certificate, in DER or PEM. */
export function readCertificate(bytes: Buffer | string): Certificate | null {
  try {
    const x509 = new X509Certificate(bytes)
    const rules = readRules(x509)
    // A key that cannot be read throws here rather than later.
    return rules && x509.publicKey && { x509, rules }
  } catch {
    return null
  }
}

/** Who it is, on one line. */
export function nameOf({ x509 }: Certificate): string {
  const name = (x509.subject || x509.subjectAltName) ?? ''
  return withoutControls(name.trim().replaceAll('\n', ', ')).slice(0, 300) || 'a certificate without a name'
}

const oids = {
  basicConstraints: '2.5.29.19',
  keyUsage: '2.5.29.15',
  extendedKeyUsage: '2.5.29.37',
  alternativeName: '2.5.29.17',
} as const
const fulcio = '1.3.6.1.4.1.57264.1.'

interface Extension {
  readonly oid: string
  readonly critical: boolean
  readonly value: DerValue | undefined
}

function readRules(x509: X509Certificate): CertificateRules | null {
  const extensions = readExtensions(x509.raw)
  if (!extensions || new Set(extensions.map(({ oid }) => oid)).size < extensions.length) return null
  const find = (oid: string) => extensions.find(extension => extension.oid === oid)
  const constraints = readConstraints(find(oids.basicConstraints))
  const usage = find(oids.keyUsage)
  const extended = find(oids.extendedKeyUsage)
  const bits = usage && readBits(usage.value)
  const purposes = extended && readSequence(extended.value)?.map(readOid)
  if (!constraints || (usage && !bits) || (extended && !purposes?.every(oid => oid !== null))) return null
  const known: readonly string[] = Object.values(oids)
  return {
    ...constraints,
    keyUsage: bits ? { signsData: (bits & 0x80) !== 0, signsCertificates: (bits & 0x04) !== 0 } : null,
    purposes: purposes ? purposes.filter(oid => oid !== null) : null,
    unknownCritical: extensions.filter(({ oid, critical }) => critical && !known.includes(oid)).map(({ oid }) => oid),
    isKeyless: extensions.some(({ oid }) => oid.startsWith(fulcio)),
  }
}

/** An empty list for a certificate that has none. */
function readExtensions(raw: Buffer): Extension[] | null {
  const [toBeSigned] = readSequence(readDer(raw)?.[0]) ?? []
  const fields = readSequence(toBeSigned)
  if (!fields) return null
  const wrapper = fields.find(({ tag }) => tag === 0xa3)
  if (!wrapper) return []
  const extensions = readSequence(readDer(wrapper.content)?.[0])?.map(readExtension)
  return extensions?.every(extension => extension !== null) ? extensions : null
}

function readExtension(value: DerValue): Extension | null {
  const parts = readSequence(value)
  const oid = readOid(parts?.[0])
  const last = parts?.at(-1)
  if (!parts || oid === null || last?.tag !== derTags.octets) return null
  const critical = parts[1]?.tag === derTags.boolean && parts[1].content[0] !== 0
  return { oid, critical, value: readDer(last.content)?.[0] }
}

function readConstraints(
  extension: Extension | undefined,
): Pick<CertificateRules, 'isAuthority' | 'pathLength'> | null {
  if (!extension) return { isAuthority: false, pathLength: null }
  const parts = readSequence(extension.value)
  if (!parts) return null
  const isAuthority = parts[0]?.tag === derTags.boolean && parts[0].content[0] !== 0
  const length = parts.find(({ tag }) => tag === derTags.integer)?.content
  if (!length) return { isAuthority, pathLength: null }
  return length.length === 1 && length[0]! < 0x80 ? { isAuthority, pathLength: length[0]! } : null
}

/** The first eight bits; a null for what is no bit string. */
function readBits(value: DerValue | undefined): number | null {
  const bits = value?.tag === derTags.bits ? value.content[1] : undefined
  return bits ?? null
}
