import { randomBytes } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sha256Hex } from '../../lib/json.ts'
import type { DownloadStatus } from '../messages.ts'
import { answer, type Behaviour, chunksOf, cutAfter, fails, fakeOrigins, serve, serveWhole } from './origins.fake.ts'
import { until } from './peer.fake.ts'
import { configFor, isDownloaded, removeBase, runDownloader, shadowOf, temporaryBase } from './run-downloader.fake.ts'

const parameters = (numRuns: number) => ({
  numRuns: Number(process.env.CAIRN_RUNS ?? numRuns),
  ...(process.env.CAIRN_SEED && { seed: Number(process.env.CAIRN_SEED) }),
})
const KiB = 1024
const MiB = 2 ** 20

const content = randomBytes(700 * KiB)
const count = fc.integer({ min: 0, max: content.length })

/** What a server may do to one request, by name, so that a counterexample can be read. */
const lies: Record<string, (n: number) => Behaviour> = {
  honest: () => serve(content),
  'all of it to any range': () => serveWhole(content),
  'cut off': n => cutAfter(n, content),
  'ends early and says nothing':
    n =>
    ({ from }) =>
      answer(chunksOf(content.subarray(from, from + n)), { offset: from, validator: '"1"' }),
  'goes on elsewhere':
    n =>
    ({ from }) =>
      answer(chunksOf(content.subarray(n)), { offset: from === 0 ? 0 : n, total: content.length, validator: '"1"' }),
  'another size':
    n =>
    ({ from }) =>
      answer(chunksOf(content.subarray(from)), { offset: from, total: content.length - n, validator: '"1"' }),
  '416': () => fails('range'),
  reset: () => fails('passing'),
  '404': () => fails('missing'),
  '401': () => fails('denied'),
  '503': n => fails('busy', n),
  slow:
    n =>
    ({ from }) =>
      answer(chunksOf(content.subarray(from), Math.max(n, 10 * KiB)), {
        offset: from,
        total: content.length,
        validator: '"1"',
      }),
  longer:
    n =>
    ({ from }) =>
      answer(chunksOf(Buffer.concat([content.subarray(from), Buffer.alloc(n + 1)])), {
        offset: from,
        validator: '"1"',
      }),
  'longer and says so':
    n =>
    ({ from }) =>
      answer(chunksOf(Buffer.concat([content.subarray(from), Buffer.alloc(n + 1)])), {
        offset: from,
        total: content.length + n + 1,
        validator: '"1"',
      }),
}
// What sends wrong bytes is for the verifier to find: these are the ones that the downloader itself has to see through.
const unseen = new Set(['goes on elsewhere'])

const script = fc.array(fc.tuple(fc.constantFrom(...Object.keys(lies)), count), { maxLength: 8 })

describe('resume with random server behaviour (200, wrong 206, 416, reset, slow, short, longer)', {
  timeout: 120_000,
}, () => {
  it('ends in correct bytes or a clear error', async () => {
    await fc.assert(
      fc.asyncProperty(script, script, fc.boolean(), fc.boolean(), async (one, two, hasDigest, hasSize) => {
        const base = temporaryBase()
        const behaviours = (steps: typeof one) => steps.map(([name, n]) => lies[name]!(n))
        const origins = fakeOrigins({
          '/a': [...behaviours(one), serve(content)],
          '/b': [...behaviours(two), serve(content)],
        })
        const rig = runDownloader({ base, origins })
        const config = configFor({
          base,
          content,
          urls: ['http://one/a', 'http://two/b'],
          ...(!hasDigest && { sha256: undefined }),
          ...(!hasSize && { size: 0 }),
        })
        try {
          rig.want('a', config)
          const seen: DownloadStatus[] = []
          await until(() => rig.status('a') !== undefined)
          for (let step = 0; step < 4000 && rig.status('a')?.state !== 'downloaded'; step++) {
            await settle()
            await rig.clock.step(rig.clock.sleepers[0] ?? 1)
            seen.push(rig.status('a')!)
          }
          // The last behaviour of each source is honest, so there is always an end.
          expect(rig.status('a')).toMatchObject({ state: 'downloaded' })
          for (const { error } of seen)
            if (error)
              expect(error).toMatchObject({
                code: expect.stringMatching(/^content\./),
                text: expect.stringMatching(/./),
              })
          const names = [...one, ...two].map(([name]) => name)
          const mayBeWrong =
            names.some(name => unseen.has(name)) ||
            (!hasSize &&
              names.some(name =>
                ['ends early and says nothing', 'longer', 'longer and says so', 'another size'].includes(name),
              ))
          const digest = sha256Hex(readFileSync(config.target))
          if (!hasDigest) expect(rig.status('a')?.sha256).toBe(digest)
          if (hasSize) expect(readFileSync(config.target)).toHaveLength(content.length)
          if (!mayBeWrong) expect(digest).toBe(sha256Hex(content))
          // At the end the truth is told, though a source may have had more before.
          const sizes = seen.filter(status => !isDownloaded(status)).map(({ currentSize }) => currentSize)
          expect(sizes).toEqual([...sizes].sort((a, b) => a - b))
        } finally {
          await rig.stop()
          removeBase(base)
        }
      }),
      parameters(40),
    )
  })
})

async function settle() {
  for (let turn = 0; turn < 30; turn++) await new Promise(resolve => setImmediate(resolve))
}

describe('a crash at any point', { timeout: 120_000 }, () => {
  const blob = randomBytes(16 * MiB)
  const mayBeLost = 8 * MiB + 512 * KiB + 64 * KiB
  const at = fc.integer({ min: 1, max: blob.length })

  /** Serves honestly and tells how much it has handed out, before each chunk. */
  const watched =
    (watch: (bytes: number) => void): Behaviour =>
    ({ from }) =>
      answer(watchedChunks(from, watch), { offset: from, total: blob.length, validator: '"1"' })
  async function* watchedChunks(from: number, watch: (bytes: number) => void) {
    for await (const chunk of chunksOf(blob.subarray(from))) {
      yield chunk
      watch(chunk.length)
    }
  }

  it.each(['a kill', 'a power cut'])('by %s costs at most 8 MiB and a block twice', async how => {
    await fc.assert(
      fc.asyncProperty(at, fc.boolean(), async (crashAt, hasDigest) => {
        const base = temporaryBase()
        const left = temporaryBase()
        const pending = join(base, 'content/pending')
        const config = configFor({ base, content: blob, ...(!hasDigest && { sha256: undefined, size: 0 }) })
        const durable = shadowOf(pending)
        let served = 0
        // What the machine finds when it is there again: all that was written, or only what was synced.
        const crash = () => {
          const found = how === 'a kill' ? pending : join(durable.directory, 'content/pending')
          mkdirSync(join(left, 'content/pending'), { recursive: true })
          for (const name of readdirSync(found)) copyFileSync(join(found, name), join(left, 'content/pending', name))
        }
        const watch = (bytes: number) => {
          if (served < crashAt && served + bytes >= crashAt) crash()
          served += bytes
        }
        const first = runDownloader({ base, origins: fakeOrigins({ '/a': [watched(watch)] }), durability: durable })
        first.want('a', config)
        await until(() => served >= crashAt)
        const servedAtCrash = Math.ceil(crashAt / (64 * KiB)) * 64 * KiB
        await first.stop()

        const origins = fakeOrigins({ '/a': [serve(blob)] })
        const target = config.target.replace(base, left)
        const second = runDownloader({ base: left, origins, configs: { a: { ...config, target } } })
        try {
          await second.reach('a', isDownloaded)
          expect(sha256Hex(readFileSync(target))).toBe(sha256Hex(blob))
          expect(Math.min(servedAtCrash, blob.length) + origins.bytes - blob.length).toBeLessThanOrEqual(mayBeLost)
          expect(readdirSync(second.pending).filter(name => name.startsWith('.'))).toEqual([])
          expect(existsSync(`${target}.progress`)).toBe(true)
        } finally {
          await second.stop()
          for (const directory of [base, left, durable.directory]) removeBase(directory)
        }
      }),
      parameters(6),
    )
  })
})

describe('any order of configs', { timeout: 120_000 }, () => {
  const keys = ['a', 'b', 'c']
  const move = fc.oneof(
    fc.record({
      do: fc.constant('want' as const),
      key: fc.constantFrom(...keys),
      refs: fc.integer({ min: 0, max: 2 }),
    }),
    fc.record({ do: fc.constant('attempt' as const), key: fc.constantFrom(...keys) }),
    fc.record({ do: fc.constant('drop' as const), key: fc.constantFrom(...keys) }),
    fc.record({ do: fc.constant('wait' as const), turns: fc.integer({ min: 1, max: 40 }) }),
  )

  it('ends with a file for each that is wanted and none for the others', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(move, { maxLength: 25 }), async moves => {
        const base = temporaryBase()
        const blobs = new Map(keys.map(key => [key, randomBytes(200 * KiB)]))
        const scripts = keys.map((key): [string, Behaviour[]] => [
          `/${key}`,
          [cutAfter(100 * KiB, blobs.get(key)!), serve(blobs.get(key)!)],
        ])
        const rig = runDownloader({ base, origins: fakeOrigins(Object.fromEntries(scripts)), settings: { atOnce: 2 } })
        const wanted = new Map<string, ReturnType<typeof configFor>>()
        const attempts = new Map<string, number>()
        const set = (key: string, refs: number) => {
          const attempt = attempts.get(key) ?? 0
          const config = configFor({ base, content: blobs.get(key)!, urls: [`http://one/${key}`], refs, attempt })
          wanted.set(key, config)
          rig.want(key, config)
        }
        try {
          for (const step of moves) {
            if (step.do === 'wait') {
              for (let turn = 0; turn < step.turns; turn++) await new Promise(resolve => setImmediate(resolve))
              await rig.clock.step(100)
            } else if (step.do === 'want') set(step.key, step.refs)
            else if (step.do === 'drop') {
              wanted.delete(step.key)
              rig.peer.remove('downloadConfig', step.key)
            } else if (wanted.has(step.key)) {
              attempts.set(step.key, (attempts.get(step.key) ?? 0) + 1)
              set(step.key, 1)
            }
          }
          for (const key of keys) {
            const config = wanted.get(key)
            const isSettled = () => {
              const status = rig.status(key)
              if (!config) return status === undefined
              if (!status || status.attempt !== config.attempt) return false
              return config.refs === 0 ? status.expired : status.state === 'downloaded' && !status.expired
            }
            for (let step = 0; step < 4000 && !isSettled(); step++) {
              await settle()
              if (!isSettled()) await rig.clock.step(rig.clock.sleepers[0] ?? 1)
            }
            expect(isSettled(), `${key}: ${JSON.stringify(rig.status(key))}`).toBe(true)
            if (config?.refs) expect(sha256Hex(readFileSync(config.target))).toBe(config.sha256)
          }
          const targets = new Set([...wanted.values()].map(({ target }) => target))
          for (const name of readdirSync(rig.pending))
            expect(targets).toContain(join(rig.pending, name).replace(/\.progress$/, ''))
        } finally {
          await rig.stop()
          removeBase(base)
        }
      }),
      parameters(40),
    )
  })
})
