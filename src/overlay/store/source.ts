// Makes a package of what a config declares as its source. Looks at the config and, for `file`, at the disk; nothing is
// fetched or written before the package is built. Everything that is wrong with a source is told together.

import type { ArchiveLimits } from '../../lib/archive/limits.ts'
import { type Checksum, parseChecksum } from '../../lib/checksum.ts'
import { unreachable } from '../../lib/errors.ts'
import type { Files } from '../../lib/files.ts'
import type { Json } from '../../lib/json.ts'
import type { Problem, Warning } from '../../lib/problem.ts'
import type { PackageConfig, PackageSource } from '../../resources/overlay-config.ts'
import { byName } from '../names.ts'
import type { Package } from './package.ts'
import { checksumSyntax, fieldMissing, fieldUnused, modeInvalid, pathInvalid } from './problems.ts'
import { fileSource } from './source-file.ts'
import { inlineSource } from './source-inline.ts'
import { ociSource } from './source-oci.ts'
import { archiveSource, urlSource } from './source-url.ts'

export interface SourceRequest {
  readonly files: Files
  readonly name: string
  readonly config: PackageConfig
  /** Config path of the package: `packageByNames.nginx`. */
  readonly declaredAt: string
  /** Relative paths of `file` sources start here: the directory of the config file. */
  readonly baseDirectory: string
  /** A url source without checksum is a Problem, and not only a warning. */
  readonly requireChecksums: boolean
  readonly limits?: ArchiveLimits
}

export interface SourceResult {
  /** Null when there are problems. */
  readonly package: Package | null
  readonly problems: readonly Problem[]
  readonly warnings: readonly Warning[]
}

/** What a type of source makes of its fields; null when it has added problems. */
export interface MadeSource {
  readonly inputs: Json
  readonly build: Package['build']
}

/** The fields of a source that any type may have, checked and with their defaults. */
export interface SourceFields extends SourceRequest {
  readonly source: PackageSource
  readonly checksum: Checksum | undefined
  /** Where a single file lands; default `bin/<package name>`. */
  readonly path: string
  /** 0555 or 0444, as the state will have it; default 0555. */
  readonly mode: number
  readonly problems: Problem[]
  readonly warnings: Warning[]
}

export function sourcePackage(request: SourceRequest): SourceResult {
  const { name, config } = request
  const fields = readFields(request)
  const { problems, warnings } = fields
  const made = makeSource(fields)
  if (!made || problems.length > 0) return { package: null, problems, warnings }
  const etcFiles = [...(config.etcFiles ?? [])].sort((a, b) => byName(a.target, b.target))
  const inputs = { source: made.inputs, etcFiles: etcFiles as unknown as Json }
  const { version } = config
  return {
    package: { kind: 'source', name, version, inputs, references: [], build: made.build },
    problems,
    warnings,
  }
}

function makeSource(fields: SourceFields): MadeSource | null {
  const { type } = fields.source
  switch (type) {
    case 'url':
      return urlSource(fields)
    case 'url+tar':
      return archiveSource(fields, 'tar')
    case 'url+zip':
      return archiveSource(fields, 'zip')
    case 'url+deb':
      return archiveSource(fields, 'deb')
    case 'url+rpm':
      return archiveSource(fields, 'rpm')
    case 'oci':
      return ociSource(fields)
    case 'file':
      return fileSource(fields)
    case 'inline':
      return inlineSource(fields)
    default:
      return unreachable(type)
  }
}

type Field = Exclude<keyof PackageSource, 'type'>

const single: readonly Field[] = ['checksum', 'path', 'mode']
const archive: readonly Field[] = ['uri', 'checksum', 'stripComponents', 'allowAbsoluteLinks']

/** Which fields a type has a use for; the first one is needed. */
const usedFields: Readonly<Record<PackageSource['type'], readonly Field[]>> = {
  url: ['uri', ...single],
  'url+tar': archive,
  'url+zip': archive,
  'url+deb': archive,
  'url+rpm': archive,
  oci: [...archive, 'path', 'mode'],
  file: ['uri', ...single, 'allowAbsoluteLinks'],
  inline: ['content', ...single],
}

function readFields(request: SourceRequest): SourceFields {
  const { config, declaredAt: at } = request
  const { source } = config
  const used = usedFields[source.type]
  const needed = used[0] as Field
  const problems = source[needed] === undefined ? [fieldMissing(at, source.type, needed)] : []
  const unused = (Object.keys(source) as (keyof PackageSource)[]).filter(
    field => field !== 'type' && source[field] !== undefined && !used.includes(field),
  )
  const warnings = unused.map(field => fieldUnused(at, source.type, field))

  const checksum = source.checksum === undefined ? undefined : parseChecksum(source.checksum)
  if (checksum === null) problems.push(checksumSyntax(at, source.checksum ?? ''))
  const path = source.path ?? `bin/${request.name}`
  if (!isPlainPath(path)) problems.push(pathInvalid(at, path))
  const mode = source.mode ?? '0555'
  if (!/^0?[0-7]{3}$/.test(mode)) problems.push(modeInvalid(at, mode))
  return {
    ...request,
    source,
    checksum: checksum ?? undefined,
    path,
    mode: Number.parseInt(mode, 8) & 0o100 ? 0o555 : 0o444,
    problems,
    warnings,
  }
}

/** Relative, normalised, and every part a name that a file system takes. */
function isPlainPath(path: string): boolean {
  return path
    .split('/')
    .every(
      part => !['', '.', '..'].includes(part) && !/[\0-\x1f\x7f\ufffd]/.test(part) && Buffer.byteLength(part) <= 255,
    )
}
