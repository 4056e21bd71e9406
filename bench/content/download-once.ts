// node download-once.ts URL TARGET SIZE SHA256: the downloader's work on one file, alone in a process: no supervisor, no channel.
import { createBandwidth } from '../../src/content/downloader/bandwidth.ts'
import { download } from '../../src/content/downloader/download.ts'
import { createHosts } from '../../src/content/downloader/hosts.ts'
import { createOrigins } from '../../src/content/downloader/origins/origins.ts'
import { sha256Schema } from '../../src/content/messages.ts'
import { realClock } from '../../src/lib/clock.ts'
import { realFiles } from '../../src/lib/files.ts'
import { ownDurability } from './own-durability.ts'

const [url = '', target = '', size = '', sha256 = ''] = process.argv.slice(2)
const end = await download(
  {
    files: realFiles,
    durability: ownDurability,
    clock: realClock,
    random: Math.random,
    origins: createOrigins({ clock: realClock, proxyEnv: {}, files: realFiles }),
    hosts: createHosts(realClock, Math.random, () => ({ perHost: 3, longestPauseMs: 1000 })),
    bandwidth: createBandwidth(realClock),
  },
  {
    config: {
      name: 'blob',
      sources: [{ kind: 'url', url }],
      as: 'blob',
      target,
      sha256: sha256Schema.parse(sha256),
      size: Number(size),
      limit: Number(size),
      refs: 1,
      attempt: 0,
    },
    signal: new AbortController().signal,
    onHost: () => {},
    onPause: () => {},
    onOpened: () => {},
    onProgress: () => {},
  },
)
if (end.is !== 'done') throw new Error(JSON.stringify(end))
process.exit(0)
