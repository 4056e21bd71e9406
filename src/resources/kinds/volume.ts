import * as z from 'zod'
import { conditions, observedGeneration } from '../conditions.ts'
import { immutable, reference, size } from '../fields.ts'
import { imageFields, imageRules } from '../image-name.ts'
import { type BrokenRule, defineKind, type Spec } from '../kind.ts'
import { httpUrl } from '../texts.ts'

const contentSchema = z.strictObject({
  image: imageFields.image.optional().describe('Name of an image in a registry.'),
  tag: imageFields.tag,
  digest: imageFields.digest,
  url: httpUrl().optional().describe('Address of one file, instead of an image.'),
  sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/, 'is not a SHA-256: 64 hex digits in lower case')
    .optional()
    .describe('Of the file; needed for http.'),
})

const text = (most: number) => z.string().max(most)
const mib = 2 ** 20

const spec = z.strictObject({
  description: z.string().optional().describe('For people.'),
  origin: immutable(z.enum(['blank', 'download', 'cloudInit']))
    .default('blank')
    .describe('Made of nothing, of content, or of the files of cloud-init.'),
  kind: immutable(z.enum(['disk', 'container']))
    .default('disk')
    .describe('A disk image, or a directory with the root of a container.'),
  format: immutable(z.enum(['raw', 'qcow2', 'vmdk', 'vhdx', 'iso']))
    .optional()
    .describe('Of a disk; default by the name of its source, else raw.'),
  content: contentSchema.optional().describe('What it is made of, for download.'),
  datastore: reference('Datastore').optional().describe('Where the content is had, with its credentials.'),
  trustRoots: z
    .array(reference('TrustRoot'))
    .default([])
    .describe('Who may have signed the content; any one is enough.'),
  signature: z
    .enum(['none', 'optional', 'required'])
    .optional()
    .describe('Whether a signature must be there, and good; default required with trustRoots, else none.'),
  machine: reference('Machine').optional().describe('Where it is made; absent: nowhere yet.'),
  size: size().optional().describe('How large it is to be; default the size of its image.'),
  readOnly: z.boolean().default(false).describe('No copy is made: the verified content itself is used.'),
  fileSystem: z.enum(['ext4', 'xfs', 'vfat']).optional().describe('Made on a blank disk.'),
  cloudInit: z
    .strictObject({
      userData: text(16 * mib).describe('The file user-data.'),
      metaData: text(mib).optional().describe('The file meta-data; default made from the name.'),
      networkConfig: text(mib).optional().describe('The file network-config.'),
      vendorData: text(mib).optional().describe('The file vendor-data.'),
    })
    .optional()
    .describe('The files of a cloudInit volume.'),
  generation: z
    .number()
    .int()
    .min(0)
    .max(2 ** 31)
    .default(1)
    .describe('A higher one makes the volume anew.'),
})

type VolumeSpec = z.input<typeof spec>

export const volume = defineKind({
  kind: 'Volume',
  summary: 'a disk or directory on a machine',
  description: [
    'Made from verified content, from nothing, or from the files of cloud-init. Several volumes may have the same display name.',
    'Deleting it deletes its data. A higher `generation` makes it anew on its machine, with new content.',
  ],
  displayName: { unique: false, least: 1, most: 200 },
  destroysData: true,
  spec,
  status: z.strictObject({
    observedGeneration: observedGeneration(),
    state: z.string().describe('How far it is, from initial to created.'),
    digest: z.string().optional().describe('Of the content, once it is known.'),
    path: z.string().optional().describe('On its machine, once it is made.'),
    totalSize: z.number().int().optional().describe('Bytes to fetch.'),
    currentSize: z.number().int().optional().describe('Bytes fetched.'),
    usedSize: z.number().int().optional().describe('Bytes on disk, holes not counted.'),
    progress: z.number().int().optional().describe('Percent.'),
    error: z.string().optional().describe('Why it does not go on.'),
    conditions: conditions(),
  }),
  rules: found => [...originRules(found as VolumeSpec), ...contentRules((found as VolumeSpec).content)],
  columns: [
    { title: 'STATE', value: ({ status }) => String(status?.state ?? '') },
    { title: 'ORIGIN', value: ({ spec }) => String(spec.origin ?? '') },
    { title: 'SIZE', value: ({ spec }) => String(spec.size ?? '') },
    { title: 'KIND', value: ({ spec }) => String(spec.kind ?? ''), wide: true },
    { title: 'CONTENT', value: ({ spec }) => sourceOf(spec.content as Spec | undefined), wide: true },
    { title: 'PATH', value: ({ status }) => String(status?.path ?? ''), wide: true },
    { title: 'ERROR', value: ({ status }) => String(status?.error ?? ''), wide: true },
  ],
  example: `apiVersion: cairn.dev/v1
kind: Volume
metadata:
  name: web-data
  lifecycle:
    onRemove: protect
spec:
  origin: download
  content:
    url: https://example.com/web.qcow2
    sha256: 2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824
  size: 20GiB
  machine: { external: atlas }
`,
})

function originRules({ origin = 'blank', kind = 'disk', content, cloudInit, fileSystem, ...rest }: VolumeSpec) {
  const broken: BrokenRule[] = []
  if (origin === 'download' && !content) broken.push(needed('content', 'origin download needs content'))
  if (origin === 'cloudInit' && !cloudInit) broken.push(needed('cloudInit', 'origin cloudInit needs cloudInit'))
  if (origin !== 'download' && content) broken.push(unused('content', 'origin download'))
  if (origin !== 'cloudInit' && cloudInit) broken.push(unused('cloudInit', 'origin cloudInit'))
  if (origin !== 'blank' && fileSystem) broken.push(unused('fileSystem', 'origin blank'))
  if (origin === 'blank' && kind === 'disk' && rest.machine && rest.size === undefined)
    broken.push({
      path: ['size'],
      code: 'volume.size-required',
      reason: 'a blank disk on a machine needs a size',
      hint: 'Blank disks take no space until they are written to: size: 10GiB',
    })
  return broken
}

function contentRules(content: VolumeSpec['content']): BrokenRule[] {
  if (!content) return []
  const { image, url, tag, digest, sha256 } = content
  const broken = imageRules(content, ['content'])
  if (image === undefined && url === undefined) broken.push(needed('content', 'needs image or url'))
  if (image !== undefined && url !== undefined)
    broken.push({ path: ['content', 'url'], code: 'value.conflict', reason: 'image and url exclude each other' })
  for (const [field, given, goesWith, there] of [
    ['tag', tag, 'image', image],
    ['digest', digest, 'image', image],
    ['sha256', sha256, 'url', url],
  ] as const)
    if (given !== undefined && there === undefined) broken.push(unused(`content.${field}`, goesWith))
  if (url !== undefined && sha256 === undefined && isOpen(url))
    broken.push({
      path: ['content', 'sha256'],
      code: 'reference.insecure',
      reason: 'the file is fetched without encryption, and no digest says what has to come',
      hint: 'Use https, or give the SHA-256 of the file.',
    })
  return broken
}

/** Plain http to another machine. */
const isOpen = (text: string): boolean => {
  const url = URL.parse(text)
  return url?.protocol === 'http:' && !/^(localhost|\[::1\]|127\.\d+\.\d+\.\d+)$/.test(url.hostname)
}

const needed = (field: string, reason: string): BrokenRule => ({ path: [field], code: 'value.missing', reason })

const unused = (field: string, goesWith: string): BrokenRule => ({
  path: field.split('.'),
  code: 'value.conflict',
  reason: `is only for ${goesWith}`,
})

const sourceOf = (content: Spec | undefined): string => String(content?.image ?? content?.url ?? '')
