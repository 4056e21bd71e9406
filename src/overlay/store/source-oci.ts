// oci: an image or an artifact of a registry as a package. Layers are unpacked in order, the lowest first; a layer that is no
// archive becomes a file with the name it carries.
import type { ContentStatus } from '../../content/messages.ts'
import { type Descriptor, parseManifest } from '../../content/oci/manifest.ts'
import { spellPlatform } from '../../content/oci/platform.ts'
import { extractLayers, type Layer } from '../../lib/archive/layers.ts'
import { defaultLimits } from '../../lib/archive/limits.ts'
import { CairnError } from '../../lib/errors.ts'
import type { Files } from '../../lib/files.ts'
import type { MadeSource, SourceFields } from './source.ts'
import { contentRefOfSource, identityOf, withContent } from './source-content.ts'

export function ociSource(fields: SourceFields): MadeSource | null {
  const { source, declaredAt, path, mode, limits = defaultLimits } = fields
  const ref = contentRefOfSource(fields, ['registry', 'oci-layout'])
  if (!ref) return null
  const { stripComponents = 0, allowAbsoluteLinks = false } = source
  const platform = spellPlatform(ref.platform)
  return {
    inputs: { type: 'oci', ...identityOf(fields, ref), platform, path, mode, stripComponents, allowAbsoluteLinks },
    build: (directory, context) =>
      withContent(fields, ref, context, status =>
        extractLayers({
          files: context.files,
          layers: layersOf(context.files, status, { name: path, executable: (mode & 0o100) !== 0 }),
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

/** What the config says of a layer that is no archive. */
interface SingleFile {
  readonly name: string
  readonly executable: boolean
}

function layersOf(files: Files, { blobs, name }: ContentStatus, single: SingleFile): Layer[] {
  const found = new Map(blobs.map(blob => [blob.sha256 as string, blob.path]))
  const manifest = blobs.find(({ role }) => role === 'manifest')
  const parsed = manifest?.path === undefined ? null : parseManifest(files.readFile(manifest.path), manifest.mediaType)
  if (!parsed?.ok || parsed.kind !== 'manifest') throw new CairnError('content.manifest-invalid', `${name} is no image`)
  return parsed.layers.map(layer => layerOf(layer, found.get(layer.sha256)!, single))
}

function layerOf({ mediaType, annotations }: Descriptor, file: string, { name, executable }: SingleFile): Layer {
  if (/[/.+-]tar([+.]\w+)*$/.test(mediaType)) return { tar: file }
  return { file, name: annotations['org.opencontainers.image.title'] ?? name, executable }
}
