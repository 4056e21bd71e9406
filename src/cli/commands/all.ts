// Every command there is, in the order in which help shows them.
import type { Catalogue } from '../command.ts'
import { completion } from './completion.ts'
import { contentExplain } from './content-explain.ts'
import { contentGc } from './content-gc.ts'
import { contentList } from './content-list.ts'
import { contentPull } from './content-pull.ts'
import { contentRm } from './content-rm.ts'
import { contentStatus } from './content-status.ts'
import { contentVerify } from './content-verify.ts'
import { demo } from './demo.ts'
import { help } from './help.ts'
import { nodeApply } from './node-apply.ts'
import { nodeConfirm } from './node-confirm.ts'
import { nodeDaemon } from './node-daemon.ts'
import { nodeGc } from './node-gc.ts'
import { nodeGenerations } from './node-generations.ts'
import { nodePlan } from './node-plan.ts'
import { nodePrepare } from './node-prepare.ts'
import { nodeRecover } from './node-recover.ts'
import { nodeRollback } from './node-rollback.ts'
import { nodeStatus } from './node-status.ts'
import { nodeUninstall } from './node-uninstall.ts'
import { nodeVerify } from './node-verify.ts'
import { nodeWhy } from './node-why.ts'
import { schema } from './schema.ts'
import { volumeCreate } from './volume-create.ts'
import { volumeList } from './volume-list.ts'
import { volumePurge } from './volume-purge.ts'
import { volumeRm } from './volume-rm.ts'
import { volumeShow } from './volume-show.ts'

export const catalogue: Catalogue = {
  commands: [
    demo,
    nodePrepare,
    nodePlan,
    nodeApply,
    nodeConfirm,
    nodeRollback,
    nodeGenerations,
    nodeStatus,
    nodeGc,
    nodeVerify,
    nodeWhy,
    nodeRecover,
    nodeUninstall,
    nodeDaemon,
    contentPull,
    contentList,
    contentStatus,
    contentExplain,
    contentVerify,
    contentGc,
    contentRm,
    volumeCreate,
    volumeList,
    volumeShow,
    volumePurge,
    volumeRm,
    schema,
    completion,
    help,
  ],
  topics: [
    {
      name: 'node',
      summary: 'this machine, no server needed',
      description: [
        'Brings this machine to what an OverlayConfig says: packages in a store, links below /etc, systemd units. Each apply that changes something makes a generation, and each generation can be gone back to offline.',
        'With --root DIR everything happens below DIR, without root; units are linked, not started (a machine of the demo has a runner that starts them).',
      ],
      examples: [
        { line: 'cairn node plan -f overlay.json', about: '1. what would change, and why' },
        { line: 'cairn node apply -f overlay.json', about: '2. make it so; a failure goes back by itself' },
        { line: 'cairn node status', about: '3. is it still so?' },
        { line: 'cairn node rollback', about: '4. the generation before, without network' },
      ],
    },
    {
      name: 'content',
      summary: 'images and files on this machine, fetched and verified',
      description: [
        'Bytes from a network enter a machine in one way: the downloader fetches them, the verifier, which has no network, copies them while it hashes, and only then are they used.',
      ],
      examples: [
        { line: 'cairn content pull registry.example/app:1.2', about: '1. have it here, verified' },
        { line: 'cairn content list', about: '2. what is here' },
        { line: 'cairn content status', about: '3. which walls hold' },
      ],
    },
    {
      name: 'volume',
      summary: 'disks and container roots made from content, or from nothing',
      description: ['A volume is made once and kept until it is removed; purge makes it anew.'],
      examples: [
        { line: 'cairn volume create data --from blank --size 10GiB', about: '1. a disk' },
        { line: 'cairn volume show data', about: '2. where is it?' },
      ],
    },
  ],
}
