// Signatures as cosign keeps them beside an image up to version 2: a manifest whose layers are the signed payloads, each
// with its signature in an annotation. The payload names the image; the signature is over the payload's bytes.
import type { Sha256 } from '../messages.ts'
import { readDocument } from '../oci/document.ts'
import { type Descriptor, parseManifest } from '../oci/manifest.ts'
import { manifestKindOf } from '../oci/media-types.ts'
import { type Certificate, readCertificates } from './certificate.ts'
import { type Claim, decodeBase64, type Unusable } from './claim.ts'
import type { Material } from './material.ts'

const payloadType = 'application/vnd.dev.cosign.simplesigning.v1+json'
const signatureKey = 'dev.cosignproject.cosign/signature'
const certificateKey = 'dev.sigstore.cosign/certificate'
const chainKey = 'dev.sigstore.cosign/chain'

export function readCosignTags({
  root,
  material,
}: {
  root: Sha256
  material: readonly Material[]
}): (Claim | Unusable)[] {
  return material.flatMap(({ mediaType, bytes }) => {
    if (manifestKindOf(mediaType) !== 'manifest') return []
    const manifest = parseManifest(bytes, mediaType)
    if (!manifest.ok || manifest.kind !== 'manifest') return []
    const layers = manifest.layers.filter(layer => layer.mediaType === payloadType)
    return layers.map(layer => readLayer(layer, root, material))
  })
}

function readLayer(layer: Descriptor, root: Sha256, material: readonly Material[]): Claim | Unusable {
  const what = `the cosign signature ${layer.sha256.slice(0, 12)}`
  const unusable = (reason: string): Unusable => ({ what, reason })
  const payload = material.find(({ sha256 }) => sha256 === layer.sha256)
  if (!payload) return unusable('its payload is not here')
  const fault = payloadFaultOf(payload.bytes, root)
  if (fault) return unusable(fault)
  const signature = decodeBase64(layer.annotations[signatureKey] ?? '')
  if (!signature) return unusable('it is not in base64')
  const certificates = readAnnotations(layer)
  if (!certificates) return unusable('a certificate beside it cannot be read')
  return { what, message: payload.bytes, signature, certificates }
}

function payloadFaultOf(bytes: Buffer, root: Sha256): string | null {
  const payload = readDocument(bytes)
  if (typeof payload === 'string') return `its payload cannot be read: ${payload}`
  const { type, image } = (payload.critical ?? {}) as { type?: unknown; image?: Record<string, unknown> | null }
  if (type !== 'cosign container image signature') return 'its payload is of another type'
  return image?.['docker-manifest-digest'] === `sha256:${root}` ? null : 'it was made for another image'
}

function readAnnotations({ annotations }: Descriptor): Certificate[] | null {
  const leaf = annotations[certificateKey]
  if (!leaf) return []
  const chain = annotations[chainKey]
  const [own, issuers] = [readCertificates(leaf), chain ? readCertificates(chain) : []]
  return own && issuers && [...own, ...issuers]
}
