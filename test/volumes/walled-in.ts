// Makes a volume of each kind as the manager does: under Node's permission model, which this file is started with.
// Arguments: the directory of the volumes, and a verified qcow2 image.
import { join } from 'node:path'
import type { VolumeConfig } from '../../src/content/messages.ts'
import { blankKind } from '../../src/volumes/kinds/blank.ts'
import { cloudInitKind } from '../../src/volumes/kinds/cloud-init.ts'
import { aRequest, kindContext, verifiedFile } from '../../src/volumes/kinds/context.fake.ts'
import { diskKind } from '../../src/volumes/kinds/disk.ts'
import type { VolumeKind } from '../../src/volumes/kinds/kind.ts'

const [volumes, image] = process.argv.slice(2) as [string, string]
// Syncs are the supervisor's.
const context = { ...kindContext(), durability: { sync: async () => {} } }
const maxSize = 64 * 2 ** 20

const kinds: [string, VolumeKind, Partial<VolumeConfig>][] = [
  ['web+disk#0.qcow2', diskKind, { format: 'qcow2', maxSize: 2 ** 40 }],
  ['web+blank#0.raw', blankKind, { origin: 'blank', maxSize }],
  ['web+folder#0', blankKind, { origin: 'blank', kind: 'container' }],
  ['web+seed#0.iso', cloudInitKind, { origin: 'cloud-init', cloudInit: { userData: '#cloud-config\n' } }],
]
for (const [name, kind, config] of kinds) {
  const request = aRequest(join(volumes, name), { config, content: verifiedFile(image) })
  await kind.create(request, context)
  await kind.grow({ ...request, config: { ...request.config, maxSize: 2 * request.config.maxSize } }, context)
  await kind.destroy(request.target, context)
  await kind.create(request, context)
}
process.stdout.write(process.permission.has('net') ? 'not walled in' : 'walled in')
