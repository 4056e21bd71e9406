// What a person asks for on the command line, as a VolumeConfig. Everything that is wrong with it comes in one answer.
import { contentRefOf } from '../content/content-ref.ts'
import {
  diskFormats,
  type Scope,
  type Sha256,
  type Trust,
  type VolumeConfig,
  volumeNamePattern,
} from '../content/messages.ts'
import type { Problem } from '../lib/problem.ts'
import { printSize } from '../lib/size.ts'

export interface VolumeRequest {
  readonly name: string
  /** `blank`, `cloud-init`, or a reference to content. */
  readonly from: string
  /** Bytes. */
  readonly size?: number
  readonly readOnly?: boolean
  readonly kind?: VolumeConfig['kind']
  readonly format?: VolumeConfig['format']
  readonly fileSystem?: VolumeConfig['fileSystem']
  readonly sha256?: Sha256
  readonly trust?: Trust
  readonly cloudInit?: VolumeConfig['cloudInit']
}

export function volumeConfigOf(
  request: VolumeRequest,
  { owner, scope }: { owner: string; scope: Scope },
): VolumeConfig | { readonly problems: readonly Problem[] } {
  const { name, from, size = 0, readOnly = false, fileSystem, cloudInit, sha256, trust } = request
  const origin = from === 'blank' || from === 'cloud-init' ? from : 'download'
  const kind = request.kind ?? 'disk'
  const problems: Problem[] = []
  if (!volumeNamePattern.test(name)) problems.push(nameInvalid(name))
  if (origin === 'blank' && size === 0 && kind === 'disk') problems.push(sizeRequired())
  if (origin === 'cloud-init' && !cloudInit) problems.push(userDataMissing())
  if (cloudInit) problems.push(...tooLong(cloudInit))
  if (origin !== 'cloud-init' && cloudInit) problems.push(unused('--user-data', 'a cloud-init volume'))
  if (origin !== 'blank' && fileSystem) problems.push(unused('--file-system', 'a blank volume'))
  if (/^(nfs|iscsi|rbd|ceph|smb):/.test(from)) problems.push(originUnsupported(from))
  const content =
    origin === 'download' && problems.length === 0
      ? contentRefOf({ text: from, baseDirectory: process.cwd(), ...(sha256 && { sha256 }), ...(trust && { trust }) })
      : undefined
  if (Array.isArray(content)) problems.push(...content)
  if (problems.length > 0) return { problems }
  return {
    scope,
    displayName: name,
    owner,
    id: name,
    generation: 1,
    origin,
    ...(content && !Array.isArray(content) && { content }),
    maxSize: size,
    readOnly,
    kind,
    format: request.format ?? (origin === 'cloud-init' ? 'iso' : formatOf(from)),
    ...(fileSystem && { fileSystem }),
    ...(cloudInit && { cloudInit }),
    verifyOnly: false,
  }
}

/** By the end of its name; a disk without one is raw. */
function formatOf(from: string): VolumeConfig['format'] {
  const suffix = /\.(\w+)(?:[?#].*)?$/.exec(from)?.[1]?.toLowerCase()
  return diskFormats.find(format => format === suffix) ?? 'raw'
}

const nameInvalid = (name: string): Problem => ({
  code: 'name.invalid',
  path: 'NAME',
  reason: `"${name}" cannot name a volume`,
  hint: 'Lower-case letters, digits and hyphens, at most 63, beginning with a letter or digit.',
})

const sizeRequired = (): Problem => ({
  code: 'volume.size-required',
  path: '--size',
  reason: 'a blank disk needs a size',
  hint: `Give one: --size 10GiB (${printSize(10 * 2 ** 30)}). Blank disks take no space until they are written to.`,
})

const userDataMissing = (): Problem => ({
  code: 'value.missing',
  path: '--user-data',
  reason: 'a cloud-init volume needs user data',
  hint: 'Give the file: --user-data user-data.yaml',
})

const mib = 2 ** 20
/** All of a request has to fit into one message, where text needs more bytes than in its file. */
const mostTogether = 16 * mib - 64 * 1024

function tooLong(cloudInit: NonNullable<VolumeConfig['cloudInit']>): Problem[] {
  const { metaData = '', networkConfig = '' } = cloudInit
  const limits: [flag: string, bytes: number, most: number][] = [
    ['--meta-data', Buffer.byteLength(metaData), mib],
    ['--network-config', Buffer.byteLength(networkConfig), mib],
    ['--user-data', Buffer.byteLength(JSON.stringify(cloudInit)), mostTogether],
  ]
  return limits
    .filter(([, bytes, most]) => bytes > most)
    .map(([path, bytes, most]) => ({
      code: 'value.too-long',
      path,
      reason: `there are ${bytes} bytes, and at most ${most} are taken`,
      hint: 'Lines with #include and an address let the machine fetch the rest.',
    }))
}

const unused = (flag: string, what: string): Problem => ({
  code: 'usage.unused',
  path: flag,
  reason: `${flag} is only for ${what}`,
})

const originUnsupported = (from: string): Problem => ({
  code: 'volume.origin-unsupported',
  path: '--from',
  reason: `${from.slice(0, from.indexOf(':'))} is storage on a network, which Cairn does not make volumes of yet`,
})
