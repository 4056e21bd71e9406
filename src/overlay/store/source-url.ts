// url and the archives: one file from a server, a mirror or this machine. With a checksum they are the same package wherever
// they come from.
import { type ArchiveFormat, extractArchive } from '../../lib/archive/extract.ts'
import { defaultLimits } from '../../lib/archive/limits.ts'
import { copyFile } from './copy-file.ts'
import type { MadeSource, SourceFields } from './source.ts'
import { contentRefOfSource, identityOf, withContent } from './source-content.ts'

/** One file, at `path`. */
export function urlSource(fields: SourceFields): MadeSource | null {
  const { path, mode } = fields
  const ref = contentRefOfSource(fields, ['url', 'file'])
  if (!ref) return null
  return {
    inputs: { type: 'url', ...identityOf(fields, ref), path, mode },
    build: (directory, context) =>
      withContent(fields, ref, context, async ({ blobs }) => {
        copyFile(context.files, blobs[0]!.path!, { directory, path, mode })
      }),
  }
}

export function archiveSource(fields: SourceFields, format: ArchiveFormat): MadeSource | null {
  const { source, declaredAt, limits = defaultLimits } = fields
  const ref = contentRefOfSource(fields, ['url', 'file'])
  if (!ref) return null
  const { stripComponents = 0, allowAbsoluteLinks = false } = source
  return {
    inputs: { type: source.type, ...identityOf(fields, ref), stripComponents, allowAbsoluteLinks },
    build: (directory, context) =>
      withContent(fields, ref, context, ({ blobs }) =>
        extractArchive({
          files: context.files,
          format,
          archive: blobs[0]!.path!,
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
