// url and the archives: bytes from a server or a mirror. With a checksum they are the same package wherever they come from.
import { fileURLToPath } from 'node:url'
import { type FetchedBlob, fetchBlob } from '../../content/fetch.ts'
import { spellChecksum } from '../../lib/checksum.ts'
import { messageOf } from '../../lib/errors.ts'
import { type Json, sha256Hex } from '../../lib/json.ts'
import { safeUrl } from '../../lib/safe-url.ts'
import type { Sha256 } from '../names.ts'
import { type ArchiveFormat, extractArchive } from '../../lib/archive/extract.ts'
import { defaultLimits } from '../../lib/archive/limits.ts'
import { copyFile } from './copy-file.ts'
import type { BuildContext, BuildResult } from './package.ts'
import { unpinned, uriInvalid } from './problems.ts'
import type { MadeSource, SourceFields } from './source.ts'

/** One file, at `path`. */
export function urlSource(fields: SourceFields): MadeSource | null {
  const { path, mode } = fields
  const url = checkedUrl(fields)
  if (!url) return null
  return {
    inputs: { type: 'url', ...identity(fields, url), path, mode },
    build: (directory, context) =>
      withBlob(fields, url, context, async blob => {
        copyFile(context.files, blob.path, { directory, path, mode })
      }),
  }
}

export function archiveSource(fields: SourceFields, format: ArchiveFormat): MadeSource | null {
  const { source, declaredAt, limits = defaultLimits } = fields
  const url = checkedUrl(fields)
  if (!url) return null
  const { stripComponents = 0, allowAbsoluteLinks = false } = source
  return {
    inputs: { type: source.type, ...identity(fields, url), stripComponents, allowAbsoluteLinks },
    build: (directory, context) =>
      withBlob(fields, url, context, blob =>
        extractArchive({
          files: context.files,
          format,
          archive: blob.path,
          directory,
          stripComponents,
          allowAbsoluteLinks,
          limits,
          signal: context.signal,
          declaredAt: `${declaredAt}.source`,
        }),
      ),
  }
}

/** Null when there is none to go on with; a missing checksum is told here as well. */
function checkedUrl({ source, declaredAt, requireChecksums, problems, warnings }: SourceFields): URL | null {
  if (source.checksum === undefined) (requireChecksums ? problems : warnings).push(unpinned(declaredAt))
  if (source.uri === undefined) return null
  const url = URL.parse(source.uri)
  const fault = url ? schemeFault(url) : 'it is not a URL'
  if (url && !fault) return url
  problems.push(uriInvalid(declaredAt, `the source cannot be fetched: ${fault}`))
  return null
}

function schemeFault(url: URL): string | null {
  if (url.protocol === 'http:' || url.protocol === 'https:') return null
  if (url.protocol !== 'file:') return `${url.protocol}// is not known`
  try {
    fileURLToPath(url)
    return null
  } catch (error) {
    return messageOf(error)
  }
}

/** Without a checksum the address is what there is; its hash stands for the parts that may be secret. */
function identity({ checksum }: SourceFields, url: URL): { readonly [key: string]: Json } {
  if (checksum) return { checksum: spellChecksum(checksum) }
  return { uri: safeUrl(url), uriSha256: sha256Hex(url.href) }
}

async function withBlob(
  { name, config, checksum, declaredAt, network }: SourceFields,
  url: URL,
  { files, layout, progress, signal }: BuildContext,
  use: (blob: FetchedBlob) => Promise<void>,
): Promise<BuildResult> {
  const blob = await fetchBlob(
    {
      url: url.href,
      checksum,
      directory: layout.downloads,
      files,
      progress,
      signal,
      label: `${name} ${config.version}`,
      declaredAt: `${declaredAt}.source`,
    },
    network,
  )
  try {
    await use(blob)
    return { sourceSha256: blob.sha256 as Sha256 }
  } finally {
    blob.release()
  }
}
