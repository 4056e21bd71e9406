// Reads an image index or an image manifest, as strictly in the verifier as in the manager: what one of them takes, the
// other takes alike. Unknown keys are allowed, since the format grows; known ones have their type, and nothing is guessed
// where the type that was promised and the document disagree. Foreign URLs and inlined data are not looked at.
import * as z from 'zod'
import { deepPath } from '../../lib/located-json.ts'
import { withoutControls } from '../../lib/redact.ts'
import { mediaTypeSchema, type Platform, type Sha256 } from '../messages.ts'
import { type Document, maxDocumentSize, readDocument } from './document.ts'
import { manifestKindOf, ociIndexType, ociManifestType } from './media-types.ts'

export const maxManifestSize = maxDocumentSize
export const maxDescriptors = 1000

export interface Descriptor {
  readonly mediaType: string
  readonly sha256: Sha256
  readonly size: number
  readonly annotations: Readonly<Record<string, string>>
  readonly artifactType?: string | undefined
  /** Only in an index. */
  readonly platform?: Platform | undefined
}

export interface ImageIndex {
  readonly kind: 'index'
  readonly mediaType: string
  readonly manifests: readonly Descriptor[]
  readonly artifactType?: string | undefined
  readonly subject?: Descriptor | undefined
}

export interface ImageManifest {
  readonly kind: 'manifest'
  readonly mediaType: string
  readonly config: Descriptor
  readonly layers: readonly Descriptor[]
  readonly artifactType?: string | undefined
  readonly subject?: Descriptor | undefined
}

/** None of these passes by itself: the bytes are what their digest says. */
export type ManifestFailure = {
  readonly ok: false
  readonly code:
    | 'content.manifest-invalid'
    | 'content.manifest-too-large'
    | 'content.manifest-unsupported'
    | 'content.media-type-mismatch'
    | 'content.nested-index'
    | 'content.too-many-blobs'
    | 'digest.unsupported'
  readonly reason: string
}

export type Parsed = ({ readonly ok: true } & (ImageIndex | ImageManifest)) | ManifestFailure

/** `expected` is what the parent descriptor or the request says; without it the document's own word counts, then its shape. */
export function parseManifest(bytes: Uint8Array, expected: string | undefined): Parsed {
  const document = readDocument(bytes)
  if (typeof document === 'string')
    return refuse(bytes.length > maxManifestSize ? 'content.manifest-too-large' : 'content.manifest-invalid', document)
  const type = typeOf(document, expected?.toLowerCase())
  if ('ok' in type) return type
  return type.kind === 'index' ? readIndex(document, type.mediaType) : readManifest(document, type.mediaType)
}

interface ManifestType {
  readonly kind: 'index' | 'manifest'
  readonly mediaType: string
}

/** A document that could be read both ways is refused: two readers must not see two images in it. */
function typeOf(document: Document, expected: string | undefined): ManifestType | ManifestFailure {
  const isIndex = 'manifests' in document
  const isManifest = 'config' in document || 'layers' in document
  if ('fsLayers' in document || document.schemaVersion === 1)
    return refuse('content.manifest-unsupported', 'it is a Docker manifest of schema 1, which is out of use')
  if (document.schemaVersion !== 2) return refuse('content.manifest-invalid', 'schemaVersion is not 2')
  if (isIndex === isManifest)
    return refuse('content.manifest-invalid', isIndex ? 'it is index and manifest at once' : 'it lists no content')
  const kind = isIndex ? 'index' : 'manifest'

  const said = document.mediaType
  if (said !== undefined && typeof said !== 'string')
    return refuse('content.manifest-invalid', 'mediaType is not a string')
  if (expected !== undefined && said !== undefined && said.toLowerCase() !== expected)
    return refuse('content.media-type-mismatch', `${show(expected)} was promised, and it calls itself ${show(said)}`)
  const mediaType = (expected ?? said)?.toLowerCase() ?? (isIndex ? ociIndexType : ociManifestType)
  const promised = manifestKindOf(mediaType)
  if (!promised)
    return refuse('content.manifest-unsupported', `${show(mediaType)} is neither an index nor an image manifest`)
  if (promised !== kind)
    return refuse(
      'content.media-type-mismatch',
      `${show(mediaType)} was promised, and it has the shape of ${isIndex ? 'an index' : 'a manifest'}`,
    )
  return { kind, mediaType }
}

function readIndex(document: Document, mediaType: string): Parsed {
  const read = indexSchema.safeParse(document)
  if (!read.success) return invalid(read.error)
  const { manifests, artifactType, subject } = read.data
  const tooMany = countedOut(manifests.length)
  if (tooMany) return tooMany
  if (manifests.some(entry => manifestKindOf(entry.mediaType) === 'index'))
    return refuse('content.nested-index', 'the index lists another index')
  return { ok: true, kind: 'index', mediaType, manifests, artifactType, subject }
}

function readManifest(document: Document, mediaType: string): Parsed {
  const read = manifestSchema.safeParse(document)
  if (!read.success) return invalid(read.error)
  const { config, layers, artifactType, subject } = read.data
  return (
    countedOut(layers.length + 1) ?? { ok: true, kind: 'manifest', mediaType, config, layers, artifactType, subject }
  )
}

const mediaType = z.string().toLowerCase().pipe(mediaTypeSchema)

const platformSchema = z
  .object({ os: z.string().max(64), architecture: z.string().max(64), variant: z.string().max(64).optional() })
  .transform(({ variant, ...platform }): Platform => (variant ? { ...platform, variant } : platform))

const unsupportedDigest = 'is no sha256 digest'

const descriptorSchema = z
  .object({
    mediaType,
    digest: z
      .string()
      .max(300)
      .regex(/^sha256:[0-9a-f]{64}$/, unsupportedDigest),
    size: z.number().int().min(0).max(Number.MAX_SAFE_INTEGER),
    annotations: z.record(z.string(), z.string()).optional(),
    artifactType: z.string().max(255).optional(),
    platform: platformSchema.optional(),
  })
  .transform(
    ({ digest, annotations = {}, ...rest }): Descriptor => ({
      ...rest,
      sha256: digest.slice('sha256:'.length) as Sha256,
      annotations,
    }),
  )

const common = { artifactType: z.string().max(255).optional(), subject: descriptorSchema.optional() }
const indexSchema = z.object({ ...common, manifests: z.array(descriptorSchema) })
const manifestSchema = z.object({ ...common, config: descriptorSchema, layers: z.array(descriptorSchema) })

function countedOut(blobs: number): ManifestFailure | null {
  return blobs > maxDescriptors
    ? refuse('content.too-many-blobs', `it lists ${blobs} blobs, and at most ${maxDescriptors} are taken`)
    : null
}

function invalid(error: z.ZodError): ManifestFailure {
  const issue = error.issues.find(({ message }) => message === unsupportedDigest) ?? error.issues[0]!
  const path = deepPath('', issue.path as (string | number)[])
  const code = issue.message === unsupportedDigest ? 'digest.unsupported' : 'content.manifest-invalid'
  return refuse(code, `${withoutControls(path).slice(0, 200)}: ${withoutControls(issue.message).slice(0, 300)}`)
}

const refuse = (code: ManifestFailure['code'], reason: string): ManifestFailure => ({ ok: false, code, reason })

const show = (mediaType: string): string => withoutControls(mediaType).slice(0, 255)
