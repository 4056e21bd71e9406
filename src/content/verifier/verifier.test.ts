// From a download to verified/, and away again: the whole verifier on real directories, the other processes played by the test.
import * as fs from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { faultyFiles } from '../../lib/files.fake.ts'
import { realFiles } from '../../lib/files.ts'
import type { Sha256, VerifyConfig, VerifyStatus } from '../messages.ts'
import { steppedClock } from '../pubsub/stepped-clock.fake.ts'
import { type Bulk, realBulk } from './bulk.ts'
import { verifiedNameOf } from './names.ts'
import { type Bench, bench, octets, type RunningVerifier, shaOf, syncingWith } from './verifier.fake.ts'

const parameters = {
  numRuns: Number(process.env.CAIRN_RUNS ?? 40),
  ...(process.env.CAIRN_SEED && { seed: Number(process.env.CAIRN_SEED) }),
}

let its: Bench
beforeEach(() => {
  its = bench()
})
afterEach(() => its.remove())

const text = Buffer.from('the bytes of a blob')
const isVerified = ({ state, expired }: VerifyStatus) => state === 'verified' && !expired
const hasError = ({ error }: VerifyStatus) => error !== undefined
const nameOf = (bytes: Uint8Array, mediaType = octets) => verifiedNameOf({ sha256: shaOf(bytes), mediaType })
const manifestType = 'application/vnd.oci.image.manifest.v1+json'
const configType = 'application/vnd.oci.image.config.v1+json'

async function verify(bytes: Buffer, change: Partial<VerifyConfig> = {}, running = its.start()) {
  const { sha256, config } = its.download(bytes, change)
  running.peer.say('verifyConfig', sha256, config)
  const status = await running.status(sha256, one => isVerified(one) || hasError(one))
  return { status, sha256, config, running }
}

async function errorOf(running: RunningVerifier, sha256: Sha256, config: VerifyConfig): Promise<VerifyStatus['error']> {
  running.peer.say('verifyConfig', sha256, config)
  return (await running.status(sha256, hasError)).error
}

describe('a download', () => {
  it('becomes a verified file that nobody may write, and stays where it was itself', async () => {
    const { status, config } = await verify(text)
    const path = join(its.layout.verified, nameOf(text))
    expect(status).toMatchObject({ state: 'verified', path, mediaType: octets, size: text.length, attempt: 0 })
    expect(status.checkedAt).toBeDefined()
    expect(its.verified()).toEqual({ [nameOf(text)]: shaOf(text) })
    expect(fs.statSync(path).mode & 0o777).toBe(0o400)
    expect(fs.existsSync(config.path!)).toBe(true)
    expect(its.names(its.layout.verifier)).toEqual([])
  })

  it('is copied: what is written to it later changes nothing', async () => {
    const { config } = await verify(text)
    fs.writeFileSync(config.path!, 'other bytes')
    expect(its.verified()).toEqual({ [nameOf(text)]: shaOf(text) })
  })

  it('may be empty, and of unknown size', async () => {
    const { status } = await verify(Buffer.alloc(0), { size: 0 })
    expect(status).toMatchObject({ state: 'verified', size: 0 })
  })

  it('is made durable before it gets its name, and its name before it is told', async () => {
    const files = faultyFiles(realFiles)
    const running = its.start({ files, durability: syncingWith(files) })
    await verify(text, {}, running)
    const steps = files.log.filter(step => /^(rename|fsync)/.test(step)).map(step => step.split(' ')[0])
    expect(steps.slice(0, 4)).toEqual(['fsync', 'fsync', 'rename', 'fsync'])
  })

  it('tells how far it is, not too often', async () => {
    const bytes = Buffer.alloc(8 * 2 ** 20, 'x')
    const { running, sha256 } = await verify(bytes)
    const progress = running.peer.history('verifyStatus', sha256).filter(one => one?.state === 'verifying')
    expect(progress[0]).toMatchObject({ currentSize: 0, size: bytes.length })
    expect(progress[1]).toMatchObject({ currentSize: 2 ** 20 })
    expect(progress.length).toBeLessThan(8)
  })

  it('with any byte flipped, cut off or added is refused, and nothing of it is kept', async () => {
    const running = its.start()
    const change = fc.oneof(
      fc.record({ kind: fc.constant('flip' as const), at: fc.nat(), by: fc.integer({ min: 1, max: 255 }) }),
      fc.record({ kind: fc.constant('cut' as const), at: fc.nat() }),
      fc.record({ kind: fc.constant('add' as const), bytes: fc.uint8Array({ minLength: 1, maxLength: 20 }) }),
    )
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ minLength: 1, maxLength: 300 }),
        change,
        fc.boolean(),
        async (good, how, sized) => {
          const bad = Buffer.from(how.kind === 'add' ? [...good, ...how.bytes] : good)
          if (how.kind === 'flip') bad[how.at % bad.length]! ^= how.by
          const bytes = how.kind === 'cut' ? bad.subarray(0, how.at % bad.length) : bad
          const sha256 = shaOf(good)
          const { config } = its.download(bytes, { size: sized ? good.length : 0 })
          const error = await errorOf(running, sha256, config)
          const isOtherSize = sized && bytes.length !== good.length
          expect(error?.code).toBe(isOtherSize ? 'content.size-mismatch' : 'content.digest-mismatch')
          expect(its.verified()).toEqual({})
          running.peer.unsay('verifyConfig', sha256)
          expect(running.peer.said('verifyStatus').has(sha256)).toBe(false)
        },
      ),
      parameters,
    )
    expect(its.names(its.layout.verifier)).toEqual([])
  })

  it('that is altered while it is hashed gives the right bytes or a mismatch', async () => {
    const good = Buffer.alloc(1000, 'good')
    const sha256 = shaOf(good)
    await fc.assert(
      fc.asyncProperty(fc.nat(9), fc.nat(999), fc.nat(1), async (turn, position, alters) => {
        const { config } = its.download(good, { size: 0 })
        let reads = 0
        const bulk: Bulk = {
          ...realBulk,
          read: (fd, into) => {
            if (reads++ === turn && alters) {
              const other = fs.openSync(config.path!, 'r+')
              fs.writeSync(other, 'BAD', position)
              fs.closeSync(other)
            }
            return realBulk.read(fd, into.subarray(0, 100))
          },
        }
        const running = its.start({ bulk })
        running.peer.say('verifyConfig', sha256, config)
        const status = await running.status(sha256, one => isVerified(one) || hasError(one))
        if (status.state !== 'verified') expect(status.error?.code).toBe('content.digest-mismatch')
        expect(its.verified()).toEqual(status.state === 'verified' ? { [nameOf(good)]: sha256 } : {})
        await running.stop()
        fs.rmSync(join(its.layout.verified, nameOf(good)), { force: true })
      }),
      parameters,
    )
  })
})

describe('a bad download', () => {
  it('is told with what was found and expected, and looked at again for a higher attempt', async () => {
    const running = its.start()
    const { config } = its.download(Buffer.from('wrong'))
    const error = await errorOf(running, shaOf(text), { ...config, size: 0 })
    expect(error).toMatchObject({ code: 'content.digest-mismatch', severity: 'error', source: 'verifier' })
    expect(error!.text).toContain(shaOf(text))
    expect(error!.text).toContain(shaOf(Buffer.from('wrong')))

    fs.writeFileSync(config.path!, text)
    running.peer.say('verifyConfig', shaOf(text), { ...config, size: 0, attempt: 1 })
    expect(await running.status(shaOf(text), isVerified)).toMatchObject({ attempt: 1 })
  })

  it('is kept for a look when that is wanted, the newest few', async () => {
    const running = its.start()
    running.peer.say('verifierSettings', '', { rehash: 'changed', quarantine: 2 })
    for (const n of [1, 2, 3]) {
      const { config } = its.download(Buffer.from(`wrong ${n}`), { attempt: n, size: 0 })
      running.peer.say('verifyConfig', shaOf(text), config)
      await running.status(shaOf(text), one => hasError(one) && one.attempt === n)
    }
    const kept = its.names(its.layout.quarantine)
    expect(kept).toHaveLength(2)
    const path = join(its.layout.quarantine, kept[1]!)
    expect(fs.statSync(path).mode & 0o777).toBe(0o400)
    expect(fs.readFileSync(path, 'utf8')).toBe('wrong 3')
    expect(its.verified()).toEqual({})
  })

  it('that is no plain file is not read, and told as a possible attack', async () => {
    const running = its.start()
    const { config } = its.download(text)
    fs.rmSync(config.path!)
    fs.symlinkSync('/etc/hostname', config.path!)
    const error = await errorOf(running, shaOf(text), config)
    expect(error).toMatchObject({ code: 'content.unsafe-file', severity: 'error' })
    expect(its.log.join()).toContain('attack')
    expect(its.names(its.layout.verifier)).toEqual([])
  })

  it('that is gone is told', async () => {
    const running = its.start()
    const { config } = its.download(text)
    fs.rmSync(config.path!)
    expect(await errorOf(running, shaOf(text), config)).toMatchObject({ code: 'content.pending-missing' })
  })

  it('does not hold up others', async () => {
    const running = its.start()
    const bad = its.download(Buffer.from('bad'))
    running.peer.say('verifyConfig', shaOf(text), { ...bad.config, size: 0 })
    const many = Array.from({ length: 8 }, (_, n) => Buffer.from(`blob ${n}`))
    for (const bytes of many) {
      const { sha256, config } = its.download(bytes)
      running.peer.say('verifyConfig', sha256, config)
    }
    for (const bytes of many) await running.status(shaOf(bytes), isVerified)
    expect(Object.keys(its.verified())).toHaveLength(8)
  })

  it('under a key that is no digest makes no file and no status', async () => {
    const running = its.start()
    running.peer.say('verifyConfig', '../x', its.download(text).config)
    await verify(Buffer.from('other'), {}, running)
    expect([...running.peer.said('verifyStatus').keys()]).toEqual([shaOf(Buffer.from('other'))])
    expect(its.log.join()).toContain('no digest')
  })
})

describe('a full disk', () => {
  it('is told, leaves nothing behind, and is tried again by itself and when space comes', async () => {
    const clock = steppedClock()
    let isFull = true
    const bulk: Bulk = {
      ...realBulk,
      write: async (fd, bytes) => {
        if (isFull) throw Object.assign(new Error('no space left'), { code: 'ENOSPC' })
        await realBulk.write(fd, bytes)
      },
    }
    const running = its.start({ bulk, clock })
    const { status } = await verify(text, {}, running)
    expect(status).toMatchObject({ state: 'initial', error: { code: 'content.no-space', severity: 'notice' } })
    expect(Date.parse(status.error!.retryAt!)).toBeGreaterThan(clock.now().getTime())
    expect(its.names(its.layout.verifier)).toEqual([])

    await clock.advance(15_000)
    const again = await running.status(
      shaOf(text),
      one => hasError(one) && one.error!.retryAt !== status.error!.retryAt,
    )
    expect(again.error!.since).toBe(status.error!.since)
    isFull = false
    await clock.advance(30_000)
    expect(await running.status(shaOf(text), isVerified)).toBeDefined()
  })

  it('is not waited for when another blob goes', async () => {
    let isFull = false
    const bulk: Bulk = {
      ...realBulk,
      free: async path => (isFull ? 0 : realBulk.free(path)),
    }
    const clock = steppedClock()
    const running = its.start({ bulk, clock })
    const other = await verify(Buffer.from('other'), {}, running)
    isFull = true
    const { status } = await verify(text, { size: 0 }, running)
    expect(status.error?.code).toBe('content.no-space')
    isFull = false
    running.peer.say('verifyConfig', other.sha256, { ...other.config, refs: 0, expired: true })
    running.peer.unsay('verifyConfig', other.sha256)
    await running.status(shaOf(text), isVerified)
  })
})

describe('media types', () => {
  const imageConfig = Buffer.from('{}')
  const manifest = (mediaType = manifestType) =>
    Buffer.from(
      JSON.stringify({
        schemaVersion: 2,
        mediaType,
        config: { mediaType: configType, digest: `sha256:${shaOf(imageConfig)}`, size: 2 },
        layers: [],
      }),
    )

  it('of a manifest is what it says itself', async () => {
    const { status } = await verify(manifest(), { mediaType: manifestType })
    expect(status).toMatchObject({ state: 'verified', mediaType: manifestType })
  })

  it('that the body contradicts are refused for good', async () => {
    const { status } = await verify(manifest('application/vnd.oci.image.index.v1+json'), { mediaType: manifestType })
    expect(status.error).toMatchObject({ code: 'content.media-type-mismatch', severity: 'error' })
    expect(status.error?.retryAt).toBeUndefined()
    expect(its.verified()).toEqual({})
  })

  it('of a manifest refuse what is none', async () => {
    const { status } = await verify(Buffer.from('<html>'), { mediaType: manifestType })
    expect(status.error).toMatchObject({ code: 'content.manifest-invalid' })
    const large = await verify(Buffer.alloc(4 * 2 ** 20 + 1, ' '), { mediaType: manifestType })
    expect(large.status.error).toMatchObject({ code: 'content.manifest-too-large' })
    expect(its.names(its.layout.verifier)).toEqual([])
  })

  it('that no file name can hold are refused', async () => {
    const { status } = await verify(text, { mediaType: `x/y${'_'.repeat(100)}` })
    expect(status.error).toMatchObject({ code: 'content.media-type-too-long' })
  })

  it('may be several for the same bytes: each is a name of one file', async () => {
    const { running, sha256, config } = await verify(imageConfig, { mediaType: configType })
    running.peer.say('verifyConfig', sha256, { ...config, mediaType: octets })
    const second = await running.status(sha256, one => isVerified(one) && one.mediaType === octets)
    const paths = [configType, octets].map(mediaType => join(its.layout.verified, nameOf(imageConfig, mediaType)))
    expect(second.path).toBe(paths[1])
    expect(new Set(paths.map(path => fs.statSync(path).ino)).size).toBe(1)

    running.peer.say('verifyConfig', sha256, { ...config, mediaType: manifestType })
    expect((await running.status(sha256, hasError)).error?.code).toBe('content.manifest-invalid')

    running.peer.say('verifyConfig', sha256, { ...config, refs: 0, expired: true })
    running.peer.unsay('verifyConfig', sha256)
    expect(its.verified()).toEqual({})
  })
})

describe('the handshake', () => {
  it('keeps the file at refs 0, echoes that it may go, and removes it with the config', async () => {
    const { running, sha256, config } = await verify(text)
    running.peer.say('verifyConfig', sha256, { ...config, refs: 0 })
    expect(running.peer.said('verifyStatus').get(sha256)).toMatchObject({ state: 'verified', expired: false })
    running.peer.say('verifyConfig', sha256, { ...config, refs: 0, expired: true })
    expect(running.peer.said('verifyStatus').get(sha256)).toMatchObject({ state: 'verified', expired: true })
    expect(its.verified()).toEqual({ [nameOf(text)]: sha256 })
    running.peer.unsay('verifyConfig', sha256)
    expect(its.verified()).toEqual({})
    expect(running.peer.said('verifyStatus').has(sha256)).toBe(false)
  })

  it.each([
    ['at refs 0', 1, 'verified'],
    ['after the echo', 2, 'verified'],
    ['after the file has gone', 3, 'initial'],
  ] as const)('revives %s', async (_, steps, state) => {
    const { running, sha256, config } = await verify(text)
    const { path: __, ...held } = config
    const down = [
      () => running.peer.say('verifyConfig', sha256, { ...held, refs: 0 }),
      () => running.peer.say('verifyConfig', sha256, { ...held, refs: 0, expired: true }),
      () => running.peer.unsay('verifyConfig', sha256),
    ]
    for (const step of down.slice(0, steps)) step()
    running.peer.say('verifyConfig', sha256, { ...held, refs: 2 })
    const status = running.peer.said('verifyStatus').get(sha256)
    expect(status).toMatchObject({ state, expired: false })
    expect(its.verified()).toEqual(state === 'verified' ? { [nameOf(text)]: sha256 } : {})
    running.peer.say('verifyConfig', sha256, { ...config, attempt: 1 })
    await running.status(sha256, isVerified)
  })

  it.each([
    ['refs 0 and expired', (config: VerifyConfig) => ({ ...config, refs: 0, expired: true })],
    ['the config gone', () => null],
  ])(
    'in the middle of the work (%s), with the config back at once, ends with a file and its status',
    async (_, next) => {
      const block = Promise.withResolvers<void>()
      const reading = Promise.withResolvers<void>()
      const bulk: Bulk = {
        ...realBulk,
        read: async (fd, into) => {
          reading.resolve()
          await block.promise
          return realBulk.read(fd, into)
        },
      }
      const running = its.start({ bulk })
      const { sha256, config } = its.download(text)
      running.peer.say('verifyConfig', sha256, config)
      await reading.promise
      const changed = next(config)
      if (changed) running.peer.say('verifyConfig', sha256, changed)
      else running.peer.unsay('verifyConfig', sha256)
      running.peer.say('verifyConfig', sha256, { ...config, attempt: 1 })
      block.resolve()
      expect(await running.status(sha256, isVerified)).toMatchObject({ attempt: 1 })
      expect(its.verified()).toEqual({ [nameOf(text)]: sha256 })
      expect(its.names(its.layout.verifier).filter(name => !name.startsWith('ledger'))).toEqual([])
    },
  )

  it('tells when a file cannot be removed, keeps its status, and tries again', async () => {
    const clock = steppedClock()
    let isStuck = false
    const files = {
      ...realFiles,
      unlink: (path: string) => {
        if (isStuck && path.startsWith(its.layout.verified)) throw Object.assign(new Error('stuck'), { code: 'EROFS' })
        realFiles.unlink(path)
      },
    }
    const { running, sha256, config } = await verify(text, {}, its.start({ files, clock }))
    isStuck = true
    running.peer.say('verifyConfig', sha256, { ...config, refs: 0, expired: true })
    running.peer.unsay('verifyConfig', sha256)
    expect(running.peer.said('verifyStatus').get(sha256)).toMatchObject({ expired: true })
    expect(its.log.join()).toContain('cannot be removed')
    isStuck = false
    await clock.advance(15_000)
    expect(running.peer.said('verifyStatus').has(sha256)).toBe(false)
    expect(its.verified()).toEqual({})
  })
})

describe('a verified file that rots', () => {
  const rot = () => {
    const path = join(its.layout.verified, nameOf(text))
    fs.chmodSync(path, 0o600)
    fs.writeFileSync(path, 'rotten bytes')
  }

  it('is found when a higher attempt asks for a look, removed, and taken in again', async () => {
    const { running, sha256, config } = await verify(text)
    const { path: _, ...held } = config
    rot()
    const error = await errorOf(running, sha256, { ...held, attempt: 1 })
    expect(error).toMatchObject({ code: 'content.bit-rot', severity: 'error' })
    expect(running.peer.said('verifyStatus').get(sha256)).toMatchObject({ state: 'initial', attempt: 1 })
    expect(its.verified()).toEqual({})
    running.peer.say('verifyConfig', sha256, { ...config, attempt: 2 })
    expect(await running.status(sha256, isVerified)).toMatchObject({ attempt: 2 })
  })

  it('is found when all files are to be hashed, and a good one says when it was', async () => {
    const running = its.start()
    const bad = await verify(text, {}, running)
    const good = await verify(Buffer.from('good'), {}, running)
    const { path: _, ...held } = bad.config
    running.peer.say('verifyConfig', bad.sha256, held)
    rot()
    const checkedSince = new Date(Date.now() + 5).toISOString()
    await new Promise(done => setTimeout(done, 10))
    running.peer.say('verifierSettings', '', { rehash: 'off', quarantine: 0, checkedSince })
    const status = await running.status(good.sha256, ({ checkedAt = '' }) => checkedAt >= checkedSince)
    expect(isVerified(status)).toBe(true)
    expect((await running.status(bad.sha256, hasError)).error?.code).toBe('content.bit-rot')
  })

  it('stays the news when the download is gone too', async () => {
    const { running, sha256, config } = await verify(text)
    rot()
    fs.rmSync(config.path!)
    running.peer.say('verifierSettings', '', { rehash: 'off', quarantine: 0, checkedSince: '2100-01-01T00:00:00.000Z' })
    expect((await running.status(sha256, hasError)).error?.code).toBe('content.bit-rot')
  })
})
