// The directory of a container volume: `rootfs`, `image-config.json`, and where the root file system is a mount, which
// snapshot is mounted. The bare mount point has a mark in it, which the mount hides.
import { join } from 'node:path'
import type { ManagerContext } from '../../content/process/calls.ts'
import { CairnError } from '../../lib/errors.ts'
import { destroyDirectory } from '../kinds/directory.ts'

export const rootfsOf = (target: string): string => join(target, 'rootfs')
export const configOf = (target: string): string => join(target, 'image-config.json')
/** Only where the root file system is mounted. */
export const snapshotOf = (target: string): string => join(target, 'snapshot.json')
export const notAttached = 'not-attached'

export const isAttached = ({ files }: ManagerContext, target: string): boolean =>
  !files.lstat(join(rootfsOf(target), notAttached))

/** Never deletes through a mount: what is mounted there belongs to the runtime. Gone already is fine. */
export async function removeVolumeDirectory(target: string, context: ManagerContext): Promise<void> {
  const { files, calls } = context
  if (!files.lstat(target)) return
  if (files.lstat(snapshotOf(target))) {
    await calls.unmount(rootfsOf(target))
    if (files.readdir(rootfsOf(target)).some(name => name !== notAttached))
      throw new CairnError('volume.still-mounted', `${rootfsOf(target)} is still mounted; nothing was removed`)
  }
  await destroyDirectory(target, context)
}
