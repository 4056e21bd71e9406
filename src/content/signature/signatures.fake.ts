// Signatures for tests, in the forms in which they lie beside an image, and the question that is asked about them.
import { type KeyObject, sign } from 'node:crypto'
import { sha256Hex } from '../../lib/json.ts'
import type { Sha256, Trust } from '../messages.ts'
import type { SignatureQuestion } from './judge.ts'
import type { Material } from './material.ts'

export const now = new Date('2027-01-01T00:00:00Z')
export const rootBytes = Buffer.from('{"schemaVersion":2}')
export const root = sha256Hex(rootBytes) as Sha256

export const pemOfKey = (key: KeyObject): string => key.export({ type: 'spki', format: 'pem' }).toString()

export const aTrust = (more: Partial<Trust> = {}): Trust => ({
  policy: 'required',
  keys: [],
  certificates: [],
  ...more,
})

export const aQuestion = (more: Partial<SignatureQuestion> = {}): SignatureQuestion => ({
  root,
  trust: aTrust(),
  material: [],
  certificates: [],
  roots: [],
  now,
  ...more,
})

export const aMaterial = (mediaType: string, bytes: Buffer): Material => ({
  sha256: sha256Hex(bytes) as Sha256,
  mediaType,
  bytes,
})

export interface TagWish {
  readonly key: KeyObject
  readonly digest?: string
  readonly type?: string
  readonly signature?: string
  readonly certificate?: string
  readonly chain?: string
}

/** A signature manifest of cosign 2 and its payload. */
export function cosignTag({
  key,
  digest = `sha256:${root}`,
  type,
  signature,
  certificate,
  chain,
}: TagWish): Material[] {
  const critical = {
    identity: { 'docker-reference': 'registry.example/app' },
    image: { 'docker-manifest-digest': digest },
    type: type ?? 'cosign container image signature',
  }
  const payload = aMaterial(
    'application/vnd.dev.cosign.simplesigning.v1+json',
    Buffer.from(JSON.stringify({ critical, optional: null })),
  )
  const annotations = {
    'dev.cosignproject.cosign/signature': signature ?? sign('sha256', payload.bytes, key).toString('base64'),
    ...(certificate && { 'dev.sigstore.cosign/certificate': certificate }),
    ...(chain && { 'dev.sigstore.cosign/chain': chain }),
  }
  const descriptor = { mediaType: payload.mediaType, digest: `sha256:${payload.sha256}`, size: payload.bytes.length }
  const manifest = {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    config: { mediaType: 'application/vnd.oci.image.config.v1+json', digest: `sha256:${'0'.repeat(64)}`, size: 2 },
    layers: [{ ...descriptor, annotations }],
  }
  return [aMaterial(manifest.mediaType, Buffer.from(JSON.stringify(manifest))), payload]
}

export const bundleType = 'application/vnd.dev.sigstore.bundle.v0.3+json'

export interface BundleWish {
  readonly key: KeyObject
  readonly digest?: string
  readonly predicateType?: string
  readonly signature?: string
  readonly certificates?: readonly Buffer[]
}

/** A bundle of cosign 3 around a statement. */
export function bundle(wish: BundleWish): Material {
  const { key, digest = root, predicateType = 'https://sigstore.dev/cosign/sign/v1' } = wish
  const statement = {
    _type: 'https://in-toto.io/Statement/v1',
    subject: [{ digest: { sha256: digest } }],
    predicateType,
  }
  const payload = Buffer.from(JSON.stringify({ ...statement, predicate: {} }))
  const payloadType = 'application/vnd.in-toto+json'
  const sig = wish.signature ?? sign('sha256', envelopeBytes(payloadType, payload), key).toString('base64')
  return bundleOf({
    verificationMaterial: verificationMaterial(wish.certificates),
    dsseEnvelope: { payload: payload.toString('base64'), payloadType, signatures: [{ sig }] },
  })
}

export interface BareWish {
  readonly key: KeyObject
  readonly bytes?: Buffer
  readonly digest?: string
}

/** A bundle with a bare signature over bytes. */
export function bareBundle({ key, bytes = rootBytes, digest = sha256Hex(bytes) }: BareWish): Material {
  const messageDigest = { algorithm: 'SHA2_256', digest: Buffer.from(digest, 'hex').toString('base64') }
  const signature = sign('sha256', bytes, key).toString('base64')
  return bundleOf({ verificationMaterial: verificationMaterial(), messageSignature: { messageDigest, signature } })
}

export const bundleOf = (fields: object): Material =>
  aMaterial(bundleType, Buffer.from(JSON.stringify({ mediaType: bundleType, ...fields })))

const envelopeBytes = (type: string, body: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`DSSEv1 ${type.length} ${type} ${body.length} `), body])

function verificationMaterial(certificates: readonly Buffer[] = []): object {
  const raw = certificates.map(der => ({ rawBytes: der.toString('base64') }))
  if (raw.length === 0) return { publicKey: { hint: 'x' }, tlogEntries: [] }
  return raw.length === 1 ? { certificate: raw[0] } : { x509CertificateChain: { certificates: raw } }
}
