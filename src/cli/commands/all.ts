// Every command there is, in the order in which help shows them.
import type { Catalogue } from '../command.ts'
import { apply } from './apply.ts'
import { backup } from './backup.ts'
import { completion } from './completion.ts'
import { contentExplain } from './content-explain.ts'
import { contentGc } from './content-gc.ts'
import { contentList } from './content-list.ts'
import { contentPull } from './content-pull.ts'
import { contentRm } from './content-rm.ts'
import { contentStatus } from './content-status.ts'
import { contentVerify } from './content-verify.ts'
import { demo } from './demo.ts'
import { exportCommand } from './export.ts'
import { get } from './get.ts'
import { help } from './help.ts'
import { history } from './history.ts'
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
import { plan } from './plan.ts'
import { restore } from './restore.ts'
import { schema } from './schema.ts'
import { secretList } from './secret-list.ts'
import { secretRm } from './secret-rm.ts'
import { secretSet } from './secret-set.ts'
import { stacksCancel } from './stacks-cancel.ts'
import { stacksCreate } from './stacks-create.ts'
import { stacksDelete } from './stacks-delete.ts'
import { stacksForget } from './stacks-forget.ts'
import { stacksHistory } from './stacks-history.ts'
import { stacksImport } from './stacks-import.ts'
import { stacksList } from './stacks-list.ts'
import { stacksRefresh } from './stacks-refresh.ts'
import { stacksShow } from './stacks-show.ts'
import { stacksUninstall } from './stacks-uninstall.ts'
import { stacksUnlock } from './stacks-unlock.ts'
import { stacksUpdate } from './stacks-update.ts'
import { tokenCreate } from './token-create.ts'
import { tokenList } from './token-list.ts'
import { tokenRevoke } from './token-revoke.ts'
import { up } from './up.ts'
import { validate } from './validate.ts'
import { volumeCreate } from './volume-create.ts'
import { volumeList } from './volume-list.ts'
import { volumePurge } from './volume-purge.ts'
import { volumeRm } from './volume-rm.ts'
import { volumeShow } from './volume-show.ts'

export const catalogue: Catalogue = {
  commands: [
    demo,
    up,
    validate,
    plan,
    apply,
    exportCommand,
    get,
    stacksList,
    stacksCreate,
    stacksShow,
    stacksUpdate,
    stacksImport,
    stacksForget,
    stacksRefresh,
    stacksHistory,
    stacksUninstall,
    stacksDelete,
    stacksUnlock,
    stacksCancel,
    tokenCreate,
    tokenList,
    tokenRevoke,
    secretSet,
    secretList,
    secretRm,
    history,
    backup,
    restore,
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
      name: 'stacks',
      summary: 'what bundles made',
      description: [
        'A stack is the record of what a bundle made: it maps the names in the bundle to what is live, so that applying again changes only what differs, and what leaves the bundle is taken away.',
      ],
      examples: [
        { line: 'cairn apply -f homelab/', about: '1. makes the stack homelab' },
        { line: 'cairn stacks show homelab', about: '2. what it owns' },
        { line: 'cairn stacks history homelab', about: '3. what happened to it' },
        { line: 'cairn stacks uninstall homelab', about: '4. takes away what it made' },
      ],
    },
    {
      name: 'token',
      summary: 'who may do what',
      description: ['Every request carries a token. Only its hash is kept.'],
      examples: [{ line: 'cairn token create ci --role operator --expires-in 90d', about: 'for a pipeline' }],
    },
    {
      name: 'secret',
      summary: 'values that never stand in a bundle',
      description: [
        'A bundle names a secret with secretRef; its value is given with apply or set here, kept encrypted, and never shown again.',
      ],
      examples: [{ line: 'cairn secret set registry-password', about: 'asks for the value' }],
    },
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
