// node verify-once.ts BASE NAME SIZE SHA256: the verifier's work on one file of pending/, alone in a process.
import { join } from 'node:path'
import { defaultSettings } from '../../src/content/default-settings.ts'
import { contentLayoutOf } from '../../src/content/layout.ts'
import { sha256Schema } from '../../src/content/messages.ts'
import { memoryLinks } from '../../src/content/pubsub/memory-link.ts'
import { openPeer } from '../../src/content/pubsub/open-peer.ts'
import { realBulk } from '../../src/content/verifier/bulk.ts'
import { verifyFile } from '../../src/content/verifier/verify-file.ts'
import { realClock } from '../../src/lib/clock.ts'
import { makeDirectories } from '../../src/lib/durable.ts'
import { realFiles } from '../../src/lib/files.ts'
import { ownDurability } from './own-durability.ts'

const [base = '', name = '', size = '', sha256 = ''] = process.argv.slice(2)
const layout = contentLayoutOf({ base, run: join(base, 'run') })
for (const directory of [layout.verifier, layout.verified]) makeDirectories(realFiles, directory)
// Nobody is at the other end: verifying one file says nothing to anyone.
const [, link] = memoryLinks()
const outcome = await verifyFile(
  {
    peer: openPeer(link),
    files: realFiles,
    layout,
    bulk: realBulk,
    durability: ownDurability,
    clock: realClock,
    random: Math.random,
    log: console.error,
    settings: () => defaultSettings.verifier,
  },
  {
    sha256: sha256Schema.parse(sha256),
    mediaType: 'application/octet-stream',
    path: join(layout.pending, name),
    size: Number(size),
  },
  { signal: new AbortController().signal, onProgress: () => {} },
)
if ('setback' in outcome) throw new Error(JSON.stringify(outcome))
