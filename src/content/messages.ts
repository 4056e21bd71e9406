// Every message that passes between the content processes and those who ask them, as strict schemas: decoded at each
// boundary, so that no process trusts another one's shape. A digest is checked here before any path is made of it.
// Configs say what is wanted, statuses what is; the last one counts, and none is a call that waits for an answer.
import * as z from 'zod'
import { sourceSchema } from './source.ts'
import { states } from './state.ts'

/** Lower-case hex. */
export type Sha256 = string & { readonly '~': 'Sha256' }

export const sha256Schema = z.custom<Sha256>(
  value => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value),
  'is no lower-case hex SHA-256',
)

/** The parts of a machine that ask for content; `unknown` is the manager's own, for volumes it found. */
export const scopes = ['volumes', 'packages', 'images', 'certs', 'unknown'] as const
export type Scope = (typeof scopes)[number]
/** In those of the manager nobody else asks. */
const isAsked = (scope: Scope): boolean => scope !== 'unknown' && scope !== 'certs'
const askingScope = z.enum(scopes).refine(isAsked, 'is a scope of the manager')

const size = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER)
const time = z.iso.datetime()
const path = z.string().min(1).max(4096).startsWith('/')
const stateSchema = z.enum(states)
export const mediaTypeSchema = z
  .string()
  .regex(/^[a-z0-9][a-z0-9!#$&^_.+-]*\/[a-z0-9][a-z0-9!#$&^_.+-]*$/)
  .max(255)
const pem = z.string().max(64 * 1024)

/** What went wrong, beside a state. Only who set it clears it. */
export const contentErrorSchema = z.strictObject({
  code: z.templateLiteral([z.string(), '.', z.string()]),
  /** Without secrets: addresses have passed safeUrl. */
  text: z.string().max(4000),
  severity: z.enum(['notice', 'warning', 'error']),
  since: time,
  /** Absent: waits for a change, not for time. */
  retryAt: time.optional(),
  source: z.enum(['downloader', 'verifier', 'manager']),
})
export type ContentError = z.infer<typeof contentErrorSchema>

export const platformSchema = z.strictObject({
  os: z.string().max(64),
  architecture: z.string().max(64),
  variant: z.string().max(64).optional(),
})
export type Platform = z.infer<typeof platformSchema>

/** Who must have signed: `none` asks for nothing, `optional` refuses a bad signature, `required` refuses a missing one too. */
const policySchema = z.enum(['none', 'optional', 'required'])

export const trustSchema = z.strictObject({
  policy: policySchema,
  /** Public keys in PEM; a good signature of any of them is enough. */
  keys: z.array(pem).max(32),
  /** Ids of CertConfigs that the chain of a signature may need. */
  certificates: z.array(z.string().max(128)).max(32),
  /** A signature over the root's digest that came with the request, in base64, instead of one beside the image. */
  signature: z
    .string()
    .max(16 * 1024)
    .optional(),
  /** The leaf whose key made `signature`, then its issuers, in PEM. */
  chain: z.array(pem).max(8).optional(),
})
export type Trust = z.infer<typeof trustSchema>

/** An image or a single file. */
export const contentRefSchema = z.strictObject({
  /** As the one who asked wrote it, without what may be secret; for people and for latches. */
  name: z.string().min(1).max(2000),
  /** In the order in which they are tried; at least one. */
  sources: z.array(sourceSchema).min(1).max(32),
  tag: z
    .string()
    .regex(/^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/)
    .optional(),
  /** Digest of the root. Absent: the tag is resolved, or the first download decides, and either is latched. */
  sha256: sha256Schema.optional(),
  mediaType: mediaTypeSchema.optional(),
  /** 0 when it is not known. */
  size,
  platform: platformSchema,
  trust: trustSchema,
})
export type ContentRef = z.infer<typeof contentRefSchema>

/** `verified` is enough for packages and disks; `loaded` also puts the image into the container runtime. */
export const contentConfigSchema = z.strictObject({
  scope: askingScope,
  id: z.string().min(1).max(200),
  ref: contentRefSchema,
  until: z.enum(['verified', 'loaded']),
})
export type ContentConfig = z.infer<typeof contentConfigSchema>

const blobRoles = ['index', 'manifest', 'config', 'layer', 'signature', 'blob'] as const

export const blobStatusSchema = z.strictObject({
  sha256: sha256Schema,
  role: z.enum(blobRoles),
  mediaType: mediaTypeSchema.optional(),
  state: stateSchema,
  /** 0 when it is not known. */
  size,
  currentSize: size,
  /** Where the verifier put it; present from `verified` on. */
  path: path.optional(),
  error: contentErrorSchema.optional(),
})
export type BlobStatus = z.infer<typeof blobStatusSchema>

export const contentStatusSchema = z.strictObject({
  scope: z.enum(scopes),
  id: z.string().min(1).max(200),
  name: z.string().max(2000),
  state: stateSchema,
  /** The root's digest, from the moment it is known for good. */
  sha256: sha256Schema.optional(),
  /** The root first, then its children in the order of their manifest, each digest once. */
  blobs: z.array(blobStatusSchema).max(1100),
  totalSize: size,
  currentSize: size,
  /** 0 to 100; absent while the total is not known. */
  progress: z.number().int().min(0).max(100).optional(),
  waitingForCerts: z.boolean(),
  /** Who signed, when a signature was judged good. */
  signedBy: z.string().max(1000).optional(),
  error: contentErrorSchema.optional(),
})
export type ContentStatus = z.infer<typeof contentStatusSchema>

// --- manager and downloader

/** A tag, or what refers to a digest, at one source. The counter asks again. */
export const resolveConfigSchema = z.strictObject({
  source: sourceSchema,
  what: z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('tag'), tag: z.string().max(128) }),
    /** Signatures and the like: the referrers API, else its fallback tag. */
    z.strictObject({ kind: z.literal('referrers'), sha256: sha256Schema }),
  ]),
  counter: size,
})
export type ResolveConfig = z.infer<typeof resolveConfigSchema>

export const resolveStatusSchema = z.strictObject({
  counter: size,
  /** Null while it is not known; empty when the source has nothing of the kind. */
  found: z
    .array(z.strictObject({ sha256: sha256Schema, mediaType: mediaTypeSchema.optional(), size }))
    .max(64)
    .nullable(),
  error: contentErrorSchema.optional(),
})
export type ResolveStatus = z.infer<typeof resolveStatusSchema>

/** Keyed by the digest; without one, by a hash of the sources (`url-<hex>`). */
export const downloadConfigSchema = z.strictObject({
  /** For people: what this is part of. */
  name: z.string().max(2000),
  /** Absent: the downloader proposes one, which the verifier confirms on its own copy. */
  sha256: sha256Schema.optional(),
  /** Registries keep manifests and blobs at different places. */
  as: z.enum(['manifest', 'blob']),
  mediaType: mediaTypeSchema.optional(),
  sources: z.array(sourceSchema).min(1).max(32),
  /** The file below pending/ that the bytes go to; chosen by the manager. */
  target: path,
  /** 0 when it is not known. */
  size,
  /** No more than this is taken, known size or not. */
  limit: size,
  /** How many want it; 0 asks the downloader to let go. */
  refs: size,
  /** A higher one forces a fresh download, from the next source first. */
  attempt: size,
})
export type DownloadConfig = z.infer<typeof downloadConfigSchema>

export const downloadStatusSchema = z.strictObject({
  state: z.enum(['initial', 'downloading', 'downloaded']),
  /** Of the bytes in the file when the config named none. */
  sha256: sha256Schema.optional(),
  currentSize: size,
  totalSize: size,
  /** As the server said; decides nothing. */
  contentType: z.string().max(300).optional(),
  attempt: size,
  /** Let go: nothing is read or written any more, and the file goes with the config. */
  expired: z.boolean(),
  retryCount: size,
  firstError: contentErrorSchema.optional(),
  error: contentErrorSchema.optional(),
})
export type DownloadStatus = z.infer<typeof downloadStatusSchema>

// --- manager and verifier

/** Keyed by the digest. */
export const verifyConfigSchema = z.strictObject({
  /** The downloaded file; absent for one that is verified already. */
  path: path.optional(),
  mediaType: mediaTypeSchema,
  /** 0 when it is not known. */
  size,
  refs: size,
  /** With refs 0: the verifier may let go of the file. */
  expired: z.boolean(),
  /** Counts the downloads; a higher one asks for another look at `path`. */
  attempt: size,
})
export type VerifyConfig = z.infer<typeof verifyConfigSchema>

export const verifyStatusSchema = z.strictObject({
  state: z.enum(['initial', 'verifying', 'verified']),
  path: path.optional(),
  mediaType: mediaTypeSchema.optional(),
  size,
  currentSize: size,
  attempt: size,
  expired: z.boolean(),
  /** When all its bytes were last read and hashed. */
  checkedAt: time.optional(),
  error: contentErrorSchema.optional(),
})
export type VerifyStatus = z.infer<typeof verifyStatusSchema>

/** Judges a tree, not a blob: two trees may want different things of one root. Keyed by scope and content id. */
export const signatureConfigSchema = z.strictObject({
  name: z.string().max(2000),
  root: sha256Schema,
  trust: trustSchema,
  /** Verified manifests that may carry signatures of the root, and the blobs they name. */
  material: z.array(sha256Schema).max(256),
})
export type SignatureConfig = z.infer<typeof signatureConfigSchema>

export const signatureStatusSchema = z.strictObject({
  root: sha256Schema,
  /** Absent while it is not judged. */
  verdict: z.enum(['good', 'unsigned', 'waiting', 'refused']).optional(),
  signedBy: z.string().max(1000).optional(),
  /** The config that was judged, as the hash of its canonical text; an older one is no verdict. */
  of: z.string().max(64),
  error: contentErrorSchema.optional(),
})
export type SignatureStatus = z.infer<typeof signatureStatusSchema>

/** A certificate is content itself and may come later than what it vouches for. Keyed by its id. */
export const certConfigSchema = z.strictObject({
  id: z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/),
  role: z.enum(['intermediate', 'leaf']),
  from: z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('inline'), pem }),
    z.strictObject({ kind: z.literal('content'), sources: z.array(sourceSchema).min(1).max(32) }),
  ]),
  sha256: sha256Schema.optional(),
})
export type CertConfig = z.infer<typeof certConfigSchema>

/** From the manager to the verifier: the PEM itself or the verified blob that holds it. Keyed by the id. */
export const certMaterialSchema = z.strictObject({ pem: pem.optional(), sha256: sha256Schema.optional() })
export type CertMaterial = z.infer<typeof certMaterialSchema>

export const certStatusSchema = z.strictObject({
  id: z.string(),
  state: stateSchema,
  /** Of the DER, from `verified` on; its file in certs/ has that name. */
  fingerprint: sha256Schema.optional(),
  error: contentErrorSchema.optional(),
})
export type CertStatus = z.infer<typeof certStatusSchema>

// --- volumes

export const volumeNamePattern = /^[a-z0-9][a-z0-9-]{0,62}$/
export const diskFormats = ['raw', 'qcow2', 'vmdk', 'vhdx', 'iso'] as const

const cloudInitSchema = z.strictObject({
  userData: z.string().max(16 * 2 ** 20),
  metaData: z
    .string()
    .max(2 ** 20)
    .optional(),
  networkConfig: z
    .string()
    .max(2 ** 20)
    .optional(),
  vendorData: z
    .string()
    .max(2 ** 20)
    .optional(),
})

export const volumeConfigSchema = z.strictObject({
  scope: askingScope,
  displayName: z.string().max(200),
  /** `shared` when nobody owns it alone. */
  owner: z.string().regex(volumeNamePattern),
  id: z.string().regex(volumeNamePattern),
  generation: z
    .number()
    .int()
    .min(0)
    .max(2 ** 31),
  origin: z.enum(['download', 'blank', 'cloud-init']),
  /** For `download`. */
  content: contentRefSchema.optional(),
  /** Bytes; 0 is the size of the image. */
  maxSize: size,
  readOnly: z.boolean(),
  kind: z.enum(['disk', 'container']),
  format: z.enum(diskFormats),
  /** A blank disk gets this file system. */
  fileSystem: z.enum(['ext4', 'xfs', 'vfat']).optional(),
  cloudInit: cloudInitSchema.optional(),
  /** Fetch and verify, make nothing yet: a purge need not hold two disks. */
  verifyOnly: z.boolean(),
})
export type VolumeConfig = z.infer<typeof volumeConfigSchema>

export const volumeStatusSchema = z.strictObject({
  scope: z.enum(scopes),
  displayName: z.string().max(200),
  owner: z.string(),
  id: z.string(),
  /** As declared. */
  generation: size,
  /** Purges on this machine, added to the declared generation in the name. */
  localGeneration: size,
  origin: z.enum(['download', 'blank', 'cloud-init']),
  kind: z.enum(['disk', 'container']),
  format: z.enum(diskFormats),
  readOnly: z.boolean(),
  maxSize: size,
  state: stateSchema,
  /** The tree it is made from; absent without one. */
  content: contentStatusSchema.optional(),
  /** From `created` on: the disk, or the directory with rootfs and image-config.json. */
  path: path.optional(),
  /** Bytes on disk, holes not counted. */
  usedSize: size,
  lastUse: time.optional(),
  /** Made before this boot. */
  preReboot: z.boolean(),
  /** For scope `unknown`: when it will be collected. */
  collectedAt: time.optional(),
  error: contentErrorSchema.optional(),
})
export type VolumeStatus = z.infer<typeof volumeStatusSchema>

// --- settings

/** Passwords come in this message and stay in the memory of the downloader. */
export const datastoreSchema = z.strictObject({
  /** Of a registry or server, with its port: `registry.example:5000`. */
  host: z.string().min(1).max(300),
  username: z.string().max(300).optional(),
  password: z.string().max(4000).optional(),
  /** Hosts that have the same content, in the order in which they are tried before the host itself. */
  mirrors: z.array(z.string().max(300)).max(16).optional(),
  /** Speak http to it; without this only loopback addresses are spoken to so. */
  plainHttp: z.boolean().optional(),
  /** Certificate authority of its own, in PEM. */
  ca: pem.optional(),
})
export type Datastore = z.infer<typeof datastoreSchema>

/** To the downloader only; never kept, shown or logged. */
export const downloadSettingsSchema = z.strictObject({
  datastores: z.array(datastoreSchema).max(1000),
  atOnce: z.number().int().min(1).max(16),
  perHost: z.number().int().min(1).max(16),
  /** Bytes a second over all downloads; absent is no cap. */
  bandwidth: size.optional(),
  /** What the link costs now, and the most that may be spent: above it downloads wait. */
  linkCost: z.number().int().min(0).max(255),
  maxCost: z.number().int().min(0).max(255),
  stallSeconds: z.number().int().min(20).max(3600),
  /** The longest pause between outer tries. */
  retrySeconds: z.number().int().min(60).max(86_400),
})
export type DownloadSettings = z.infer<typeof downloadSettingsSchema>

export const managerSettingsSchema = z.strictObject({
  /** After this long, volumes that nobody claimed go (`content.gc.volume`, alias `timer.gc.vdisk`). */
  gcVolumeSeconds: z
    .number()
    .int()
    .min(60)
    .max(365 * 86_400),
  /** How long a verified blob outlives its last reference. */
  deleteDelaySeconds: z.number().int().min(0).max(86_400),
  /** Downloads of one blob before it is left alone. */
  attempts: z.number().int().min(1).max(10),
  /** Keep room for the system: min(20 %, 2 GiB). */
  reserve: z.boolean(),
  /** Nothing is collected. */
  maintenance: z.boolean(),
  /** What nobody has wanted since before this goes now, without waiting for its time. */
  collectBefore: time.optional(),
})
export type ManagerSettings = z.infer<typeof managerSettingsSchema>

export const verifierSettingsSchema = z.strictObject({
  /** At start: all verified files, those that look changed, or none. */
  rehash: z.enum(['full', 'changed', 'off']),
  /** Bad downloads that are kept for a look. */
  quarantine: z.number().int().min(0).max(100),
  /** Files that were last hashed before this are hashed again now. */
  checkedSince: time.optional(),
})
export type VerifierSettings = z.infer<typeof verifierSettingsSchema>

// --- the processes themselves

export const processNames = ['downloader', 'verifier', 'manager'] as const
export type ProcessName = (typeof processNames)[number]

export const isolationSchema = z.strictObject({
  process: z.enum(processNames),
  /** Node's permission model is on. */
  permission: z.boolean(),
  /** A network namespace of its own, as the supervisor sees it. */
  netns: z.boolean(),
  ownUid: z.boolean(),
  /** It tried to connect and could not. Never true of the downloader. */
  checked: z.boolean(),
  /** How the connects ended: `ERR_ACCESS_DENIED`, `ENETUNREACH`. */
  proof: z.array(z.string().max(64)).max(8),
  /** Told to run without any. */
  insecure: z.boolean(),
  /** running | restarting | degraded, with how often it was started. */
  health: z.enum(['running', 'restarting', 'degraded']),
  starts: size,
})
export type Isolation = z.infer<typeof isolationSchema>
