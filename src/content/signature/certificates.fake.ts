// Certificates for tests, written byte by byte, so that each can be wrong in exactly one way.
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'

/** Somebody with a name and a key; may be subject or issuer. */
export interface Someone {
  readonly name: string
  readonly publicKey: KeyObject
  readonly privateKey: KeyObject
}

export const someone = (name: string): Someone => ({ name, ...generateKeyPairSync('ec', { namedCurve: 'P-256' }) })

export interface CertificateWish {
  readonly subject: Someone
  readonly issuer: Someone
  /** Absent: no authority. */
  readonly authority?: { readonly pathLength?: number }
  readonly keyUsage?: readonly ('digitalSignature' | 'keyCertSign')[]
  readonly purposes?: readonly string[]
  readonly from?: string
  readonly to?: string
  readonly hash?: 'sha1' | 'sha256'
  readonly more?: readonly { readonly oid: string; readonly critical: boolean }[]
}

export const codeSigning = '1.3.6.1.5.5.7.3.3'
export const serverAuth = '1.3.6.1.5.5.7.3.1'

const usageBits = { digitalSignature: 0x80, keyCertSign: 0x04 }

export function certificateDer(wish: CertificateWish): Buffer {
  const { subject, issuer, authority, keyUsage, purposes, hash = 'sha256', more = [] } = wish
  const { from = '2026-01-01T00:00:00Z', to = '2040-01-01T00:00:00Z' } = wish
  const extensions = [
    ...(authority ? [extension('2.5.29.19', true, constraints(authority.pathLength))] : []),
    ...(keyUsage ? [extension('2.5.29.15', true, bits(keyUsage.reduce((sum, use) => sum | usageBits[use], 0)))] : []),
    ...(purposes ? [extension('2.5.29.37', false, sequence(...purposes.map(oid)))] : []),
    ...more.map(({ oid: id, critical }) => extension(id, critical, tlv(0x05))),
  ]
  const algorithm = sequence(oid(hash === 'sha1' ? '1.2.840.10045.4.1' : '1.2.840.10045.4.3.2'))
  const toBeSigned = sequence(
    tlv(0xa0, tlv(0x02, Buffer.from([2]))),
    tlv(0x02, Buffer.from([1, serial++ % 0x100])),
    algorithm,
    nameDer(issuer.name),
    sequence(time(from), time(to)),
    nameDer(subject.name),
    subject.publicKey.export({ type: 'spki', format: 'der' }),
    ...(extensions.length > 0 ? [tlv(0xa3, sequence(...extensions))] : []),
  )
  const signature = sign(hash, toBeSigned, issuer.privateKey)
  return sequence(toBeSigned, algorithm, tlv(0x03, Buffer.from([0]), signature))
}

export function certificatePem(wish: CertificateWish): string {
  return pemOf(certificateDer(wish))
}

export const pemOf = (der: Buffer): string =>
  `-----BEGIN CERTIFICATE-----\n${der.toString('base64').replace(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`

let serial = 1

function tlv(tag: number, ...contents: Buffer[]): Buffer {
  const content = Buffer.concat(contents)
  const size = content.length
  const length = size < 0x80 ? [size] : size < 0x100 ? [0x81, size] : [0x82, size >> 8, size & 0xff]
  return Buffer.concat([Buffer.from([tag, ...length]), content])
}

const sequence = (...contents: Buffer[]): Buffer => tlv(0x30, ...contents)

const nameDer = (name: string): Buffer => sequence(tlv(0x31, sequence(oid('2.5.4.3'), tlv(0x0c, Buffer.from(name)))))

const time = (iso: string): Buffer => tlv(0x18, Buffer.from(`${iso.replace(/[-:TZ]|\.\d+/g, '')}Z`))

const bits = (byte: number): Buffer => tlv(0x03, Buffer.from([0, byte]))

const constraints = (pathLength: number | undefined): Buffer =>
  sequence(tlv(0x01, Buffer.from([0xff])), ...(pathLength === undefined ? [] : [tlv(0x02, Buffer.from([pathLength]))]))

const extension = (id: string, critical: boolean, value: Buffer): Buffer =>
  sequence(oid(id), ...(critical ? [tlv(0x01, Buffer.from([0xff]))] : []), tlv(0x04, value))

function oid(text: string): Buffer {
  const [first = 0, second = 0, ...others] = text.split('.').map(Number)
  return tlv(0x06, Buffer.from([first * 40 + second, ...others].flatMap(sevenBits)))
}

function sevenBits(arc: number): number[] {
  const digits = [arc % 0x80]
  for (let rest = Math.floor(arc / 0x80); rest > 0; rest = Math.floor(rest / 0x80)) digits.unshift(0x80 + (rest % 0x80))
  return digits
}
