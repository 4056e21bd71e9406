// Container volumes through containerd: an image is content with a record, a volume is a snapshot over the image's layers,
// mounted at `rootfs`. What a volume needs is held by labels, so that containerd's own gc frees all the rest.
// Holds: a volume appears only after the snapshots below it are on disk, since containerd commits them without a flush.
import { join } from 'node:path'
import { Code } from '@connectrpc/connect'
import * as z from 'zod'
import type { ManagerContext, Mount } from '../../../content/process/calls.ts'
import { canonicalJson } from '../../../lib/json.ts'
import { writeNew } from '../../../lib/write-new.ts'
import { exists } from '../../kinds/failures.ts'
import { putInPlace } from '../../kinds/put-in-place.ts'
import { isTemporaryName } from '../../names.ts'
import { imageMissing, readImage, verifiedPath } from '../image.ts'
import type { ContainerRuntime, RootfsRequest } from '../runtime.ts'
import { configOf, isAttached, notAttached, removeVolumeDirectory, rootfsOf, snapshotOf } from '../volume-directory.ts'
import { type Connection, type Containerd, unless } from './connection.ts'
import { forgetImage, holdLayers, loadImage, rootOfImage } from './images.ts'
import { inTurn } from './in-turn.ts'
import { readContent } from './ingest.ts'
import { collect, leaseKeeper } from './lease.ts'
import { chooseSnapshotter, unpackLayers } from './snapshots.ts'

interface Snapshot {
  readonly snapshotter: string
  readonly key: string
}

const snapshotSchema = z.strictObject({ snapshotter: z.string(), key: z.string() })
/** Followed by the whole target: another store on this machine may have a volume of the same name. */
const keyPrefix = 'cairn-volume:'

/** Ends what a crash has left half done. */
export async function containerdRuntime(context: ManagerContext, connection: Connection): Promise<ContainerRuntime> {
  const { files, calls, clock, layout } = context
  const perBlob = inTurn()
  const perBase = inTurn()
  const { use } = connection
  const leases = leaseKeeper(layout.volumes, clock)
  const snapshotter = await use('choosing a snapshotter', async containerd => {
    await leases.endStale(containerd)
    return chooseSnapshotter(containerd)
  })
  await unmountTemporaries(context)

  const keyOf = (target: string) => `${keyPrefix}${target}`
  const snapshotAt = (target: string): Snapshot | null =>
    files.lstat(snapshotOf(target))
      ? snapshotSchema.parse(JSON.parse(files.readFile(snapshotOf(target)).toString('utf8')))
      : null

  const remove = async (containerd: Containerd, snapshot: Snapshot) => {
    await unless(Code.NotFound, containerd.snapshots.remove(snapshot))
    await collect(containerd)
  }
  const attach = async (target: string) => {
    const snapshot = snapshotAt(target)
    if (!snapshot || isAttached(context, target)) return
    const { mounts } = await use(`attaching ${target}`, ({ snapshots }) => snapshots.mounts(snapshot))
    await calls.mount(mounts.map(plainMount), rootfsOf(target))
  }
  const removeRootfs = async (target: string) => {
    const snapshot = (files.lstat(target) && snapshotAt(target)) ?? { snapshotter, key: keyOf(target) }
    await removeVolumeDirectory(target, context)
    await use(`removing the snapshot of ${target}`, containerd => remove(containerd, snapshot))
  }
  /** Everything but the mount, which does not outlive a boot anyway. */
  const makeVolume = async (containerd: Containerd, { target, content, signal }: RootfsRequest) => {
    const image = await readImage(content, sha256 => readContent(containerd, sha256))
    const snapshot = { snapshotter, key: keyOf(target) }
    return leases.under(containerd, async lease => {
      const parent = await perBase(image.layers[0]?.diffId ?? '', () =>
        unpackLayers(containerd, { snapshotter, layers: image.layers, lease, signal }),
      )
      // The target is not there yet: a snapshot of its name is what a crash has left.
      await unless(Code.NotFound, containerd.snapshots.remove(snapshot))
      const labels = { 'containerd.io/gc.root': clock.now().toISOString() }
      const { mounts } = await containerd.snapshots.prepare({ ...snapshot, parent, labels }, lease)
      let usedSize = 0
      try {
        await putInPlace({ target, signal }, context, async temporary => {
          writeVolume(temporary, image.configBytes, snapshot)
          await calls.syncFileSystem(temporary)
          await flushSnapshot(mounts.map(plainMount), rootfsOf(temporary))
          // From here on the unpacked layers can be relied on, and stay as long as their image.
          if (parent) await holdLayers(containerd, image.config.sha256, { snapshotter, key: parent })
          usedSize = Number((await containerd.snapshots.usage(snapshot)).size)
        })
        return { usedSize }
      } catch (error) {
        await remove(containerd, snapshot).catch(() => {})
        throw error
      }
    })
  }
  const writeVolume = (directory: string, config: Uint8Array, snapshot: Snapshot) => {
    // Images hold programs that run with the rights of their owner: only who may use the volume may reach them.
    files.mkdir(directory, 0o700)
    files.mkdir(rootfsOf(directory), 0o755)
    writeNew(files, join(rootfsOf(directory), notAttached), '')
    writeNew(files, configOf(directory), config)
    writeNew(files, snapshotOf(directory), `${canonicalJson({ ...snapshot })}\n`)
  }
  /** A flush of the mount is one of the file system where the snapshot and all below it lie. */
  const flushSnapshot = async (mounts: readonly Mount[], rootfs: string) => {
    await calls.mount(mounts, rootfs)
    try {
      await calls.syncFileSystem(rootfs)
    } finally {
      await calls.unmount(rootfs)
    }
  }

  return {
    name: 'containerd',

    load: request =>
      use(
        `loading ${request.name}`,
        async containerd => {
          const { content } = request
          if ((await rootOfImage(containerd, request.name)) === content.blobs[0]?.sha256) return
          const image = await readImage(content, sha256 => files.readFile(verifiedPath(content, sha256)))
          await loadImage(containerd, { request, image, leases, perBlob })
        },
        request.signal,
      ),

    unload: name => use(`forgetting ${name}`, containerd => forgetImage(containerd, name)),

    async makeRootfs(request) {
      const { target, image, signal } = request
      if (files.lstat(target)) throw exists(target)
      const made = await use(
        `making ${target}`,
        async containerd => {
          if (!(await rootOfImage(containerd, image))) throw imageMissing(image)
          return makeVolume(containerd, request)
        },
        signal,
      )
      try {
        await attach(target)
        return made
      } catch (error) {
        await removeRootfs(target).catch(() => {})
        throw error
      }
    },

    attach,
    removeRootfs,

    held: () =>
      use('listing snapshots', async ({ snapshots }) => {
        const mine = `${keyPrefix}${layout.volumes}/`
        const found: string[] = []
        for await (const { info } of snapshots.list({ snapshotter }))
          for (const { name } of info) if (name.startsWith(mine)) found.push(name.slice(mine.length))
        return found
      }),
  }
}

/** Without what makes it a message of containerd. */
const plainMount = ({ type, source, options }: Mount): Mount => ({ type, source, options })

/** So that who sweeps half-made volumes away does not sweep into a snapshot. */
async function unmountTemporaries({ files, calls, layout }: ManagerContext) {
  if (!files.lstat(layout.volumes)) return
  for (const name of files.readdir(layout.volumes).filter(isTemporaryName)) {
    const temporary = join(layout.volumes, name)
    if (files.lstat(snapshotOf(temporary))) await calls.unmount(rootfsOf(temporary))
  }
}
