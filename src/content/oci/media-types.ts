// The media types of images. Docker's and OCI's mean the same, one to one; what is stored keeps the type it came with.

export const ociIndexType = 'application/vnd.oci.image.index.v1+json'
export const ociManifestType = 'application/vnd.oci.image.manifest.v1+json'

const ociTypes: ReadonlyMap<string, string> = new Map([
  ['application/vnd.docker.distribution.manifest.list.v2+json', ociIndexType],
  ['application/vnd.docker.distribution.manifest.v2+json', ociManifestType],
  ['application/vnd.docker.container.image.v1+json', 'application/vnd.oci.image.config.v1+json'],
  ['application/vnd.docker.image.rootfs.diff.tar', 'application/vnd.oci.image.layer.v1.tar'],
  ['application/vnd.docker.image.rootfs.diff.tar.gzip', 'application/vnd.oci.image.layer.v1.tar+gzip'],
  ['application/vnd.docker.image.rootfs.diff.tar.zstd', 'application/vnd.oci.image.layer.v1.tar+zstd'],
  ['application/vnd.docker.image.rootfs.foreign.diff.tar', 'application/vnd.oci.image.layer.nondistributable.v1.tar'],
  [
    'application/vnd.docker.image.rootfs.foreign.diff.tar.gzip',
    'application/vnd.oci.image.layer.nondistributable.v1.tar+gzip',
  ],
])

/** The OCI type of a Docker one; any other type is itself. */
export const ociTypeOf = (mediaType: string): string => ociTypes.get(mediaType) ?? mediaType

/** Which kind of document a type names; null for everything that is neither. */
export function manifestKindOf(mediaType: string): 'index' | 'manifest' | null {
  const type = ociTypeOf(mediaType)
  return type === ociIndexType ? 'index' : type === ociManifestType ? 'manifest' : null
}
