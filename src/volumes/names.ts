// What volumes are called on disk, and what is noted beside them. A name is the identity of a volume: records may be lost
// and are rebuilt, names are read for ever. What does not parse is not ours, and nobody deletes it.
import { join } from 'node:path'
import * as z from 'zod'
import { wholeNameOf } from '../content/half-made.ts'
import { diskFormats, sha256Schema, type VolumeConfig, volumeConfigSchema } from '../content/messages.ts'
import { canonicalJson } from '../lib/json.ts'

export type DiskFormat = VolumeConfig['format']

/** `<owner>+<id>#<generation>.<format>`; a container's directory has no format. */
export interface VolumeName {
  readonly owner: string
  readonly id: string
  /** As declared, plus the purges on this machine. */
  readonly generation: number
  readonly format?: DiskFormat
}

/** `<sha256>-<owner>[#<generation>].<format>`, as the seed named its disks: read, never written. */
export interface SeedName {
  readonly form: 'seed'
  /** Of the image, in lower case however the name spells it. */
  readonly sha256: string
  readonly owner: string
  readonly generation: number
  readonly format: DiskFormat
}

export const formatVolumeName = ({ owner, id, generation, format }: VolumeName): string =>
  `${owner}+${id}#${generation}${format === undefined ? '' : `.${format}`}`

/** `generation` counts the purges on this machine in. */
export const volumeNameOf = ({ owner, id, kind, origin, format }: VolumeConfig, generation: number): VolumeName => ({
  owner,
  id,
  generation,
  ...(kind === 'disk' && { format: origin === 'cloud-init' ? 'iso' : format }),
})

const part = '[a-z0-9][a-z0-9-]{0,62}'
const count = '0|[1-9]\\d{0,15}'
const formats = diskFormats.join('|')
const ours = new RegExp(`^(?<owner>${part})\\+(?<id>${part})#(?<generation>${count})(?:\\.(?<format>${formats}))?$`)
const seeds = new RegExp(
  `^(?<sha256>[0-9a-fA-F]{64})-(?<owner>${part})(?:#(?<generation>${count}))?\\.(?<format>${formats})$`,
)

/** Null for everything that is not the name of a volume. */
export function parseVolumeName(name: string): VolumeName | SeedName | null {
  const { sha256, owner, id, generation = '0', format } = (ours.exec(name) ?? seeds.exec(name))?.groups ?? {}
  if (owner === undefined || !Number.isSafeInteger(Number(generation))) return null
  const common = { owner, generation: Number(generation) }
  if (id !== undefined) return { ...common, id, ...(format !== undefined && { format: format as DiskFormat }) }
  return { form: 'seed', ...common, sha256: sha256!.toLowerCase(), format: format as DiskFormat }
}

export const volumeKey = ({ origin, owner, id, generation }: VolumeName & Pick<VolumeConfig, 'origin'>): string =>
  `${origin}:${owner}:${id}#${generation}`

/** Half of a volume or of a record, which its owner removes at start. */
export function isTemporaryName(name: string): boolean {
  const whole = wholeNameOf(name)?.replace(/\.json$/, '')
  return whole !== undefined && parseVolumeName(whole) !== null
}

const volumeRecordSchema = z.strictObject({
  version: z.literal(1),
  origin: volumeConfigSchema.shape.origin,
  /** Of the root of the content it was made from. */
  sha256: sha256Schema.optional(),
  /** Bytes that it may hold. */
  size: volumeConfigSchema.shape.maxSize,
  created: z.iso.datetime(),
  displayName: volumeConfigSchema.shape.displayName,
  kind: volumeConfigSchema.shape.kind,
  format: volumeConfigSchema.shape.format,
  readOnly: volumeConfigSchema.shape.readOnly,
})
export type VolumeRecord = z.infer<typeof volumeRecordSchema>

/** `name` is that of the volume. */
export const recordPath = (volumes: string, name: string): string => join(volumes, 'records', `${name}.json`)

export const formatVolumeRecord = (record: VolumeRecord): string => `${canonicalJson(record)}\n`

/** Null when the text is no record: the volume counts all the same, and its record is rebuilt. */
export function readVolumeRecord(text: string): VolumeRecord | null {
  try {
    return volumeRecordSchema.safeParse(JSON.parse(text)).data ?? null
  } catch {
    return null
  }
}
