import { tmpdir } from 'node:os'
import { describe, expect, it } from 'vitest'
import { flusher } from './flush.ts'

describe('flusher', () => {
  it('flushes a few files one by one', async () => {
    const flush = flusher(tmpdir())
    const flushed: string[] = []
    await Promise.all(['a', 'b'].map(name => flush(10, () => flushed.push(name))))
    expect(flushed).toEqual(['a', 'b'])
  })

  it('flushes many together, and none of them by itself', async () => {
    const flush = flusher(tmpdir())
    const flushed: number[] = []
    await Promise.all(Array.from({ length: 20 }, (_, index) => flush(10, () => flushed.push(index))))
    expect(flushed).toEqual([])
  })

  it('flushes by itself where the file system cannot be flushed as a whole', async () => {
    const flush = flusher('/nowhere/at/all')
    const flushed: string[] = []
    await flush(1000, () => flushed.push('a'))
    expect(flushed).toEqual(['a'])
  })

  it('serves who comes during a flush with the next one, and tells a failure to its own caller only', async () => {
    const flush = flusher(tmpdir())
    const flushed: string[] = []
    const first = flush(1, () => flushed.push('first'))
    const bad = flush(1, () => {
      throw new Error('EIO')
    })
    await expect(bad).rejects.toThrow('EIO')
    await first
    await flush(1, () => flushed.push('later'))
    expect(flushed).toEqual(['first', 'later'])
  })
})
