// Container volumes on a machine without a container runtime: images are kept as they were verified, and unpacked anew for
// each volume. A root file system is an ordinary directory; nothing is mounted.
import type { ContentStatus } from '../../../content/messages.ts'
import type { ManagerContext } from '../../../content/process/calls.ts'
import { CairnError } from '../../../lib/errors.ts'
import { writeNew } from '../../../lib/write-new.ts'
import { putInPlace } from '../../kinds/put-in-place.ts'
import { type ContainerImage, imageMissing, readImage, verifiedPath } from '../image.ts'
import type { ContainerRuntime } from '../runtime.ts'
import { configOf, removeVolumeDirectory, rootfsOf, snapshotOf } from '../volume-directory.ts'
import { imageShelf } from './image-shelf.ts'
import type { Written } from './tree-writer.ts'
import { imageLimits, unpackImage } from './unpack-image.ts'

export function directoryRuntime(context: ManagerContext): ContainerRuntime {
  const { files, calls } = context
  const shelf = imageShelf(context)
  const read = (content: ContentStatus) =>
    readImage(content, sha256 => {
      const loaded = shelf.pathOf(sha256)
      return files.readFile(files.lstat(loaded) ? loaded : verifiedPath(content, sha256))
    })
  const unpack = async (image: ContainerImage, directory: string, signal: AbortSignal) => {
    // Images hold programs that run with the rights of their owner: only who may use the volume may reach them.
    files.mkdir(directory, 0o700)
    files.mkdir(rootfsOf(directory), 0o755)
    const written = await unpackImage({
      files,
      image,
      pathOf: shelf.pathOf,
      directory: rootfsOf(directory),
      limits: imageLimits,
      asRoot: process.getuid?.() === 0,
      makeLinks: calls.symlink,
      signal,
    })
    writeNew(files, configOf(directory), image.configBytes)
    await calls.syncFileSystem(directory)
    return written
  }

  return {
    name: 'directory',

    async load(request) {
      // What is no image is told now, not first when a volume is made.
      await read(request.content)
      await shelf.put(request)
    },

    unload: shelf.take,

    async makeRootfs({ target, image: name, content, signal }) {
      if (!shelf.has(name)) throw imageMissing(name)
      const image = await read(content)
      let written: Written | undefined
      await putInPlace({ target, signal }, context, async temporary => {
        written = await unpack(image, temporary, signal)
      })
      const { usedSize, lost } = written!
      if (lost.extended > 0) context.log(`${name}: ${lost.extended} extended attributes were not set: containerd can`)
      if (lost.owners > 0) context.log(`${name}: ${lost.owners} owners do not exist here and were not set`)
      return { usedSize }
    },

    async attach(target) {
      if (files.lstat(snapshotOf(target)))
        throw new CairnError('runtime.unavailable', `${target} is a snapshot of containerd, which does not answer`)
    },

    removeRootfs: target => removeVolumeDirectory(target, context),

    held: async () => [],
  }
}
