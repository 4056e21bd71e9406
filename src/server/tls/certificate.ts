// X.509 certificates on P-256: an authority of one's own, and what it signs for a server. Nothing else is needed for TLS
// between Cairn and Cairn, so nothing else is here.
import { createHash, createPublicKey, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { isIP } from 'node:net'
import { ipv6Groups } from '../../lib/ipv6.ts'
import { bits, boolean, explicit, implicit, integer, octets, oid, sequence, setOfOne, time, utf8 } from './der.ts'

export interface KeyedCertificate {
  readonly certificate: string
  readonly key: string
}

export interface Authority {
  readonly name: string
  readonly key: KeyObject
}

interface Validity {
  readonly from: Date
  readonly until: Date
}

export function makeAuthority(name: string, validity: Validity): KeyedCertificate & { readonly authority: Authority } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const authority = { name, key: privateKey }
  const certificate = signed(authority, { name, publicKey, validity }, [
    extension('2.5.29.19', sequence(boolean(true), integer(Buffer.of(0))), true),
    // keyCertSign and cRLSign.
    extension('2.5.29.15', bits(Buffer.of(0b0000_0110), 1), true),
  ])
  return { certificate, key: pemOf(privateKey), authority }
}

export function makeServerCertificate(
  authority: Authority,
  { hosts, ...validity }: Validity & { readonly hosts: readonly string[] },
): KeyedCertificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const certificate = signed(authority, { name: hosts[0] ?? 'cairn', publicKey, validity }, [
    extension('2.5.29.19', sequence(), true),
    // digitalSignature.
    extension('2.5.29.15', bits(Buffer.of(0b1000_0000), 7), true),
    // serverAuth.
    extension('2.5.29.37', sequence(oid('1.3.6.1.5.5.7.3.1'))),
    extension('2.5.29.17', sequence(...hosts.map(alternativeName))),
  ])
  return { certificate, key: pemOf(privateKey) }
}

const ecdsaWithSha256 = sequence(oid('1.2.840.10045.4.3.2'))

function signed(
  authority: Authority,
  subject: { readonly name: string; readonly publicKey: KeyObject; readonly validity: Validity },
  extensions: readonly Buffer[],
): string {
  const publicKey = subject.publicKey.export({ type: 'spki', format: 'der' })
  const body = sequence(
    explicit(0, integer(Buffer.of(2))),
    integer(Buffer.concat([Buffer.of(0x40), randomBytes(15)])),
    ecdsaWithSha256,
    nameOf(authority.name),
    sequence(time(subject.validity.from), time(subject.validity.until)),
    nameOf(subject.name),
    publicKey,
    explicit(
      3,
      sequence(
        ...extensions,
        extension('2.5.29.14', octets(keyId(subject.publicKey))),
        extension('2.5.29.35', sequence(implicit(0, keyId(createPublicKey(authority.key))))),
      ),
    ),
  )
  const signature = sign('sha256', body, { key: authority.key, dsaEncoding: 'der' })
  return pem('CERTIFICATE', sequence(body, ecdsaWithSha256, bits(signature)))
}

const extension = (id: string, value: Buffer, critical = false): Buffer =>
  sequence(oid(id), ...(critical ? [boolean(true)] : []), octets(value))

/** One common name. */
const nameOf = (name: string): Buffer => sequence(setOfOne(sequence(oid('2.5.4.3'), utf8(name.slice(0, 64)))))

function alternativeName(host: string): Buffer {
  const version = isIP(host)
  if (version === 0) return implicit(2, Buffer.from(host, 'ascii'))
  return implicit(7, version === 4 ? Buffer.from(host.split('.').map(Number)) : ipv6Bytes(host))
}

const ipv6Bytes = (host: string): Buffer => Buffer.from(ipv6Groups(host).flatMap(group => [group >> 8, group & 0xff]))

const keyId = (key: KeyObject): Buffer =>
  createHash('sha1')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest()

const pemOf = (key: KeyObject): string => String(key.export({ type: 'pkcs8', format: 'pem' }))

function pem(label: string, bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? []
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`
}
