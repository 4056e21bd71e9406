import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sha256Hex } from '../../lib/json.ts'
import { type Bulk, realBulk } from './bulk.ts'
import { type Copied, copyHashing } from './copy.ts'

const parameters = {
  numRuns: Number(process.env.CAIRN_RUNS ?? 60),
  ...(process.env.CAIRN_SEED && { seed: Number(process.env.CAIRN_SEED) }),
}

let directory = ''
beforeAll(() => {
  directory = fs.mkdtempSync(join(tmpdir(), 'cairn-copy-'))
})
afterAll(() => fs.rmSync(directory, { recursive: true }))

interface Setup {
  readonly limit?: number
  readonly bulk?: Bulk
  readonly signal?: AbortSignal
}

async function copy(bytes: Uint8Array, { limit = Number.MAX_SAFE_INTEGER, bulk = realBulk, signal }: Setup = {}) {
  const [from, to] = [join(directory, 'from'), join(directory, 'to')]
  fs.writeFileSync(from, bytes)
  fs.rmSync(to, { force: true })
  const fds = { from: fs.openSync(from, 'r'), to: fs.openSync(to, 'wx') }
  const progress: number[] = []
  try {
    const copied: Copied = await copyHashing(bulk, {
      ...fds,
      limit,
      signal: signal ?? new AbortController().signal,
      onProgress: done => void progress.push(done),
    })
    return { ...copied, progress, bytes: fs.readFileSync(to) }
  } finally {
    fs.closeSync(fds.from)
    fs.closeSync(fds.to)
  }
}

/** Reads come in pieces of any length, as from a slow disk. */
const piecemeal = (lengths: readonly number[]): Bulk => {
  let turn = 0
  return {
    ...realBulk,
    read: (fd, into) => realBulk.read(fd, into.subarray(0, Math.max(1, lengths[turn++ % lengths.length]!))),
  }
}

const million = 2 ** 20

describe('copyHashing', () => {
  it.each([0, 1, million - 1, million, million + 1, 3 * million + 17])('copies and hashes %d bytes', async length => {
    const bytes = Buffer.alloc(length, 'abcdefg')
    const copied = await copy(bytes)
    expect(copied.size).toBe(length)
    expect(copied.sha256).toBe(sha256Hex(bytes))
    expect(copied.bytes.equals(bytes)).toBe(true)
  })

  it('has the digest of the copy, in whatever pieces the bytes come', async () => {
    const pieces = fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 8 })
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 2000 }), pieces, async (bytes, lengths) => {
        const copied = await copy(bytes, { bulk: piecemeal(lengths) })
        expect(copied.bytes.equals(bytes)).toBe(true)
        expect(copied.sha256).toBe(sha256Hex(bytes))
        expect(copied.progress.at(-1) ?? 0).toBe(bytes.length)
      }),
      parameters,
    )
  })

  it('has the digest of the copy, whatever happens to the original meanwhile', async () => {
    const change = fc.record({ at: fc.nat(10), position: fc.nat(1500), bytes: fc.uint8Array({ maxLength: 700 }) })
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 500, maxLength: 1000 }), fc.array(change), async (bytes, changes) => {
        let reads = 0
        const bulk: Bulk = {
          ...realBulk,
          read: (fd, into) => {
            const original = fs.openSync(join(directory, 'from'), 'r+')
            for (const one of changes)
              if (one.at === reads) fs.writeSync(original, one.bytes, 0, one.bytes.length, one.position)
            fs.closeSync(original)
            reads++
            return realBulk.read(fd, into.subarray(0, 100))
          },
        }
        const copied = await copy(bytes, { bulk })
        expect(copied.sha256).toBe(sha256Hex(copied.bytes))
      }),
      parameters,
    )
  })

  it('stops when there is more than the limit', async () => {
    expect(await copy(Buffer.alloc(100), { limit: 100 })).toMatchObject({ size: 100 })
    const copied = await copy(Buffer.alloc(5 * million), { limit: 100 })
    expect(copied.sha256).toBe(null)
    expect(copied.bytes).toHaveLength(0)
  })

  it('fails with what the disk says, and only when nothing is under way any more', async () => {
    let underWay = 0
    const full = Object.assign(new Error('full'), { code: 'ENOSPC' })
    const bulk: Bulk = {
      ...realBulk,
      read: async (fd, into) => {
        underWay++
        await new Promise(done => setTimeout(done, 20))
        underWay--
        return realBulk.read(fd, into)
      },
      write: () => Promise.reject(full),
    }
    await expect(copy(Buffer.alloc(3 * million), { bulk })).rejects.toBe(full)
    expect(underWay).toBe(0)
  })

  it('ends between two blocks when it is told to', async () => {
    const controller = new AbortController()
    const bulk: Bulk = {
      ...realBulk,
      write: async (fd, bytes) => {
        controller.abort()
        await realBulk.write(fd, bytes)
      },
    }
    const copying = copy(Buffer.alloc(3 * million), { bulk, signal: controller.signal })
    await expect(copying).rejects.toThrow(expect.objectContaining({ name: 'AbortError' }))
  })
})
