// npm run bench -- content: pulls, verification and volumes beside programs that do a part of the same, and against their aims.
import { existsSync, mkdirSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Bench } from '../lib/bench.ts'
import { removeAll } from '../lib/remove.ts'
import { printSeries } from '../lib/report.ts'
import { runSeries, type Series, type SeriesResult } from '../lib/rounds.ts'
import { findTool } from '../lib/tool.ts'
import { aimsOf } from './aims.ts'
import { blobSeries } from './blob-series.ts'
import { buildContentCairn, machineAt } from './cairn.ts'
import { type ContainerdTool, containerdBelow } from './containerd.ts'
import { makeImages } from './images.ts'
import { measureMemory } from './memory.ts'
import type { Place } from './names.ts'
import { measureOpenChannel } from './open-channel.ts'
import { pullSeries } from './pull-series.ts'
import { measureResume } from './resume.ts'
import { switchboardSeries } from './switchboard-series.ts'
import { volumeSeries } from './volume-series.ts'

const seriesNames = ['switchboard', 'pull', 'memory-pull', 'files', 'channel', 'blob', 'resume', 'memory', 'volumes']
const mebibyte = 2 ** 20

export const bench: Bench = async ({ quick, directory, say, only = seriesNames, rounds = quick ? 1 : 5 }) => {
  const unknown = only.filter(name => !seriesNames.includes(name))
  if (unknown.length > 0) throw new Error(`no series ${unknown.join(', ')}; there are: ${seriesNames.join(', ')}`)
  const [skopeo, umoci] = [findTool('skopeo'), findTool('umoci')]
  const tools = [skopeo, umoci, ...['ctr', 'containerd', 'docker-registry', 'curl', 'openssl'].map(findTool)]
  mkdirSync(directory, { recursive: true })
  say('building the bundle')
  const program = buildContentCairn(join(directory, 'cairn'))

  // Each table is shown when it is ready: a long run that is stopped has told what it found.
  const show = <Result extends SeriesResult>(result: Result): Result => {
    say(['', ...printSeries(result), ''].join('\n\n'))
    return result
  }
  const when = async <T>(name: string, measure: () => Promise<T>): Promise<T | null> =>
    only.includes(name) ? measure() : null
  const run = async (series: Series) => show(await runSeries(series, say))

  const switchboard = await when('switchboard', async () =>
    show(switchboardSeries(quick ? [250, 500] : [250, 500, 1000, 2000], rounds)),
  )
  const withoutRegistry = only.every(name => name === 'switchboard')
  say('making the images')
  const images = withoutRegistry ? null : await makeImages(quick)
  if (!images) return { suite: 'content', tools, series: [switchboard!], growth: [], aims: [], remarks }
  const { registry, large, small } = images
  const settings = { datastores: [{ host: registry.host, plainHttp: true }], 'content.reserve': false }
  const machineIn = (where: string) => (name: string, socket?: string) =>
    machineAt(program, join(where, name), {
      ...settings,
      ...(socket !== undefined && { 'content.containerd': socket }),
    })

  try {
    const pullIn = (where: string, place: Place, image = large) =>
      withContainerd(where, containerd =>
        run(pullSeries({ image, place, rounds, directory: where, machineAt: machineIn(where), skopeo, containerd })),
      )
    const pull = await when('pull', () => pullIn(join(directory, 'pull'), 'disk'))
    const pullInMemory = await when('memory-pull', () => inMemory(where => pullIn(where, 'memory')))
    const files = await when('files', () => pullIn(join(directory, 'files'), 'disk', small))
    const openChannel = await when('channel', async () =>
      show(await measureOpenChannel(machineIn(directory)('channel'), large, 4 * rounds)),
    )
    const blob = await when('blob', () =>
      inMemory(async where =>
        run(await blobSeries({ registry, bytes: (quick ? 32 : 1024) * mebibyte, rounds, directory: where })),
      ),
    )
    const resume = await when('resume', async () =>
      show(
        await measureResume(machineIn(directory)('resume'), {
          bytes: (quick ? 24 : 128) * mebibyte,
          kills: Math.min(rounds, 5),
        }),
      ),
    )
    const memory = await when('memory', async () => show(await measureMemory(machineIn(directory)('memory'), large)))
    const volumes = await when('volumes', () =>
      inMemory(where =>
        withContainerd(where, theirs =>
          withContainerd(
            where,
            ours =>
              run(
                volumeSeries({
                  image: small,
                  rounds,
                  directory: where,
                  machineAt: machineIn(where),
                  ours,
                  theirs,
                  skopeo,
                  umoci,
                }),
              ),
            'cairn',
          ),
        ),
      ),
    )
    const series = [pull, pullInMemory, files, openChannel, blob, volumes, resume, memory, switchboard]
    return {
      suite: 'content',
      tools,
      series: series.filter(result => result !== null),
      growth: [],
      aims: aimsOf({
        pull,
        pullInMemory,
        blob,
        volumes,
        openChannel,
        resume,
        memory,
        switchboard: switchboard?.played ?? null,
      }),
      remarks,
    }
  } finally {
    await registry.stop()
  }
}

async function withContainerd<T>(
  directory: string,
  work: (containerd: ContainerdTool | null) => Promise<T>,
  namespace?: string,
): Promise<T> {
  mkdirSync(directory, { recursive: true })
  const containerd = await containerdBelow(directory, namespace)
  try {
    return await work(containerd)
  } finally {
    await containerd?.stop()
  }
}

const memoryFileSystem = '/dev/shm'

/** There flushing costs nothing, for all. */
async function inMemory<T>(work: (directory: string) => Promise<T>): Promise<T> {
  const directory = mkdtempSync(join(existsSync(memoryFileSystem) ? memoryFileSystem : tmpdir(), 'cairn-bench-'))
  const remove = () => removeAll(directory)
  process.once('exit', remove)
  try {
    return await work(directory)
  } finally {
    process.off('exit', remove)
    remove()
  }
}

const remarks = [
  'Registry (docker-registry), containerd and all contenders share the machine; contenders of a step run in turns, in one run, and before each one everything is flushed. The page cache is warm: the registry reads from memory.',
  'Cairn syncs every blob, its record and their directories; skopeo and ctr sync nothing of what they fetch until the end, or not at all. The series in memory, where syncing is free, shows all without that price.',
  '"One command" starts four Nodes, checks their walls, pulls and ends them; with a daemon the command only asks. Verification is done in a second process on a copy of its own, so that every byte is written twice.',
  'The downloader and the verifier alone run from the sources, the start of Node included; the other times are of the shipped bundle.',
]
