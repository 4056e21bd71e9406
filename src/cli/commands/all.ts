// Every command there is, in the order in which help shows them.
import type { Catalogue } from '../command.ts'
import { completion } from './completion.ts'
import { demo } from './demo.ts'
import { help } from './help.ts'
import { nodeApply } from './node-apply.ts'
import { nodeConfirm } from './node-confirm.ts'
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
  ],
}
