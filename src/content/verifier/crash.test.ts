// Wherever the verifier dies or a call fails: verified/ never holds a partial or wrong file, and the next start finishes.
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type FaultPlan, type FaultyFiles, faultyFiles } from '../../lib/files.fake.ts'
import { realFiles } from '../../lib/files.ts'
import type { VerifyConfig, VerifyStatus } from '../messages.ts'
import { type Bulk, realBulk } from './bulk.ts'
import { verifiedNameOf } from './names.ts'
import { fakePeer } from './peer.fake.ts'
import { type Bench, bench, octets, shaOf, syncingWith } from './verifier.fake.ts'

let its: Bench
beforeEach(() => {
  its = bench()
})
afterEach(() => its.remove())

/** Several blocks, so that a crash can come between them. */
const bytes = Buffer.alloc(250, 'some bytes ')
const sha256 = shaOf(bytes)
const name = verifiedNameOf({ sha256, mediaType: octets })
const isSettled = ({ state, error }: VerifyStatus) => state === 'verified' || error !== undefined

/** Blocks, small ones, and syncs are calls like all others. */
const through = (files: FaultyFiles) => {
  const bulk: Bulk = {
    ...realBulk,
    read: (fd, into) => realBulk.read(fd, into.subarray(0, 100)),
    write: async (fd, block) => files.write(fd, block),
  }
  return { files, bulk, durability: syncingWith(files) }
}

/** Takes a blob in and lets it go again. */
async function run(
  config: VerifyConfig,
  plan?: FaultPlan,
): Promise<{ calls: number; status: VerifyStatus | undefined }> {
  const files = faultyFiles(realFiles, plan)
  const peer = fakePeer()
  peer.say('verifyConfig', sha256, config)
  const running = its.start({ peer, ...through(files) })
  const settled = running.status(sha256, isSettled)
  const status = await Promise.race([settled, running.ended.then(() => undefined)]).catch(() => undefined)
  await running.stop().catch(() => {})
  return { calls: files.calls, status }
}

const onlyTheRightFile = () => expect([{}, { [name]: sha256 }]).toContainEqual(its.verified())

it('finishes after a death at any call', async () => {
  const { config } = its.download(bytes)
  const { calls } = await run(config)
  expect(calls).toBeGreaterThan(15)
  for (let crashAt = 1; crashAt <= calls; crashAt++) {
    await its.remove()
    its = bench()
    const again = its.download(bytes).config
    await run(again, { crashAt })
    onlyTheRightFile()
    const { status } = await run(again)
    expect(status, `crash at call ${crashAt}`).toMatchObject({ state: 'verified' })
    expect(its.verified()).toEqual({ [name]: sha256 })
    expect(its.names(its.layout.verifier)).toEqual(['ledger.json'])
  }
})

it('tells of a disk that fails at any call, and goes on', async () => {
  const { config } = its.download(bytes)
  const { calls } = await run(config)
  for (let failAt = 1; failAt <= calls; failAt++) {
    const code = failAt % 2 === 0 ? 'ENOSPC' : 'EIO'
    await its.remove()
    its = bench()
    const again = its.download(bytes).config
    const { status } = await run(again, { failAt, code })
    if (status?.state === 'verified') expect(its.verified()).toEqual({ [name]: sha256 })
    else if (status) {
      const codes = code === 'ENOSPC' ? ['content.no-space'] : ['content.verify-failed']
      expect(codes, `${code} at call ${failAt}`).toContain(status.error?.code)
      expect(status.error?.retryAt).toBeDefined()
    }
    onlyTheRightFile()
    expect((await run(again)).status).toMatchObject({ state: 'verified' })
  }
})

it('loses nothing when it dies while it lets go', async () => {
  for (let crashAt = 1; crashAt <= 6; crashAt++) {
    await its.remove()
    its = bench()
    its.place(name, bytes)
    const config = { mediaType: octets, size: bytes.length, refs: 0, expired: false, attempt: 0 }
    const files = faultyFiles(realFiles, { crashAt: crashAt + 3 })
    const running = its.start(through(files))
    await Promise.race([running.peer.until(() => running.peer.hasCompleted('verifyStatus')), running.ended]).catch(
      () => {},
    )
    running.peer.say('verifyConfig', sha256, { ...config, expired: true })
    running.peer.unsay('verifyConfig', sha256)
    const wasTold = !running.peer.said('verifyStatus').has(sha256)
    await running.stop().catch(() => {})
    onlyTheRightFile()

    const next = its.start()
    await next.peer.until(() => next.peer.hasCompleted('verifyStatus'))
    expect(next.peer.said('verifyStatus').has(sha256)).toBe(Object.keys(its.verified()).length > 0)
    if (wasTold && running.peer.hasCompleted('verifyStatus')) expect(its.verified()).toEqual({})
  }
})
