// Signatures as cosign keeps them from version 3 on: a Sigstore bundle v0.3 that refers to the image. It holds either an
// envelope (DSSE) around a statement that names the image, or a bare signature over the bytes of the image's root.
// Entries of a transparency log are not looked at: they prove when, and only a key or a root here can prove who.
import * as z from 'zod'
import { sha256Hex } from '../../lib/json.ts'
import type { Sha256 } from '../messages.ts'
import { readDocument } from '../oci/document.ts'
import { type Certificate, readCertificate } from './certificate.ts'
import { type Claim, decodeBase64, type Unusable } from './claim.ts'
import type { Material } from './material.ts'

const bundleType = 'application/vnd.dev.sigstore.bundle.v0.3+json'
const statementType = 'application/vnd.in-toto+json'
const signPredicate = 'https://sigstore.dev/cosign/sign/v1'

export function readBundles({ root, material }: { root: Sha256; material: readonly Material[] }): (Claim | Unusable)[] {
  return material.flatMap(({ sha256, mediaType, bytes }): (Claim | Unusable)[] => {
    if (mediaType !== bundleType) return []
    const what = `the signature bundle ${sha256.slice(0, 12)}`
    const bundle = bundleSchema.safeParse(readDocument(bytes))
    if (!bundle.success) return [{ what, reason: 'it is no Sigstore bundle v0.3 with one signature' }]
    const certificates = readMaterial(bundle.data.verificationMaterial)
    if (!certificates) return [{ what, reason: 'a certificate in it cannot be read' }]
    const { dsseEnvelope, messageSignature } = bundle.data
    if (dsseEnvelope) return readEnvelope(dsseEnvelope, root).map(found => ({ what, certificates, ...found }))
    return [{ what, certificates, ...readBare(messageSignature!, root, material) }]
  })
}

type Signed = Pick<Claim, 'message' | 'signature'> | { readonly reason: string }

/** Nothing for a statement about something else, such as how the image was built: it is no signature. */
function readEnvelope({ payload, payloadType, signatures }: Envelope, root: Sha256): Signed[] {
  const body = payloadType === statementType ? decodeBase64(payload) : null
  const statement = statementSchema.safeParse(body && readDocument(body))
  if (!body || !statement.success) return [{ reason: 'it holds no statement' }]
  if (statement.data.predicateType !== signPredicate) return []
  if (!statement.data.subject.some(({ digest }) => digest.sha256 === root))
    return [{ reason: 'it was made for another image' }]
  const message = Buffer.concat([Buffer.from(`DSSEv1 ${payloadType.length} ${payloadType} ${body.length} `), body])
  return signatures.map(({ sig }) => {
    const signature = decodeBase64(sig)
    return signature ? { message, signature } : { reason: 'its signature is not in base64' }
  })
}

function readBare(
  { messageDigest, signature: text }: BareSignature,
  root: Sha256,
  material: readonly Material[],
): Signed {
  const digest = messageDigest && (decodeBase64(messageDigest.digest)?.toString('hex') ?? '')
  if (digest !== undefined && digest !== root) return { reason: 'it was made for another image' }
  const signature = decodeBase64(text)
  if (!signature) return { reason: 'its signature is not in base64' }
  // The signature is over these bytes, so that it is they, and not their name, that must be the root.
  const message = material.find(({ sha256, bytes }) => sha256 === root && sha256Hex(bytes) === root)?.bytes
  return message ? { message, signature } : { reason: 'it is over the bytes of the root, which are not here' }
}

function readMaterial({ certificate, x509CertificateChain }: BundleMaterial): Certificate[] | null {
  const all = certificate ? [certificate] : (x509CertificateChain?.certificates ?? [])
  const read = all.map(({ rawBytes }) => readCertificate(decodeBase64(rawBytes) ?? Buffer.alloc(0)))
  return read.every(one => one !== null) ? read : null
}

const certificateSchema = z.object({ rawBytes: z.string() })

const materialSchema = z.object({
  certificate: certificateSchema.optional(),
  x509CertificateChain: z.object({ certificates: z.array(certificateSchema).max(8) }).optional(),
})
type BundleMaterial = z.infer<typeof materialSchema>

const envelopeSchema = z.object({
  payload: z.string(),
  payloadType: z.string(),
  signatures: z
    .array(z.object({ sig: z.string() }))
    .min(1)
    .max(8),
})
type Envelope = z.infer<typeof envelopeSchema>

const bareSchema = z.object({
  messageDigest: z.object({ algorithm: z.literal('SHA2_256'), digest: z.string() }).optional(),
  signature: z.string(),
})
type BareSignature = z.infer<typeof bareSchema>

const bundleSchema = z
  .object({
    mediaType: z.literal(bundleType),
    verificationMaterial: materialSchema,
    dsseEnvelope: envelopeSchema.optional(),
    messageSignature: bareSchema.optional(),
  })
  .refine(({ dsseEnvelope, messageSignature }) => (dsseEnvelope === undefined) !== (messageSignature === undefined))

const statementSchema = z.object({
  _type: z.enum(['https://in-toto.io/Statement/v1', 'https://in-toto.io/Statement/v0.1']),
  subject: z.array(z.object({ digest: z.record(z.string(), z.string()) })).max(1000),
  predicateType: z.string(),
})
