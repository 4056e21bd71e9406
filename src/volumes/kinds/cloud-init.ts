// A disk that tells a new machine who it is: an ISO 9660 image with the label `cidata`, as the NoCloud source of
// cloud-init looks for it. The same config gives the same bytes. What is in it may be secret and goes nowhere else.
import { basename } from 'node:path'
import type { ManagerContext } from '../../content/process/calls.ts'
import { writeNew } from '../../lib/write-new.ts'
import { parseVolumeName } from '../names.ts'
import { destroyDisk } from './disk.ts'
import { cloudInitRequired, cloudInitTooLarge } from './failures.ts'
import { type IsoFile, isoImage } from './iso9660.ts'
import type { Created, CreateRequest, VolumeKind } from './kind.ts'
import { putInPlace, usedSize } from './put-in-place.ts'

export const cloudInitKind: VolumeKind = {
  create: createCloudInit,
  /** Has the size of its files. */
  grow: async ({ target }, context) => ({ path: target, usedSize: usedSize(context, target) }),
  destroy: destroyDisk,
}

const largestFile = 16 * 2 ** 20

async function createCloudInit(request: CreateRequest, context: ManagerContext): Promise<Created> {
  const image = isoImage({ label: 'cidata', files: cloudInitFiles(request) })
  return await putInPlace(request, context, temporary => writeNew(context.files, temporary, image, 0o600))
}

function cloudInitFiles({ config, target }: CreateRequest): IsoFile[] {
  const { cloudInit } = config
  if (!cloudInit) throw cloudInitRequired()
  // A purge gives a new generation and with it a new instance, for which cloud-init runs again.
  const { generation } = parseVolumeName(basename(target)) ?? config
  const instance = `instance-id: ${config.owner}-${config.id}-${generation}\nlocal-hostname: ${config.id}\n`
  const texts = [
    { name: 'meta-data', shortName: 'METADATA', text: cloudInit.metaData ?? instance },
    { name: 'network-config', shortName: 'NETCONF', text: cloudInit.networkConfig },
    { name: 'user-data', shortName: 'USERDATA', text: cloudInit.userData },
    { name: 'vendor-data', shortName: 'VENDDATA', text: cloudInit.vendorData },
  ]
  return texts.flatMap(({ name, shortName, text }) => {
    if (text === undefined) return []
    const content = Buffer.from(text)
    if (content.length > largestFile) throw cloudInitTooLarge(name, content.length, largestFile)
    return [{ name, shortName, content }]
  })
}
