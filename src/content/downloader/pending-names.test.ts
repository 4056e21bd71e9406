import { describe, expect, it } from 'vitest'
import type { Sha256 } from '../messages.ts'
import { halfMadeIn, halfMadeName, isTarget, leftoversIn, recordOf } from './pending-names.ts'
import { formatRecord, parseRecord } from './progress-record.ts'

const ours = `${'0'.repeat(64)}.${'a'.repeat(64)}`

describe('names in pending', () => {
  it('of targets are those that the manager makes, and no others can be taken for a record', () => {
    for (const name of [ours, `${'0'.repeat(64)}.url-ab12`, 'a']) expect(isTarget('/p', `/p/${name}`), name).toBe(true)
    for (const name of ['', '.', '..', '../a', 'a/b', '.a', recordOf('a'), 'a\n', halfMadeName('a', '0')])
      expect(isTarget('/p', `/p/${name}`), name).toBe(false)
  })

  it('are left over when nobody wants them, and only those that the downloader makes go', () => {
    const names = [ours, recordOf(ours), 'wanted', recordOf('wanted'), 'recorded', recordOf('recorded'), 'foreign']
    expect(leftoversIn(names, new Set(['wanted']), name => name === 'recorded')).toEqual({
      remove: [ours, recordOf(ours), 'recorded', recordOf('recorded')],
      unknown: ['foreign'],
    })
  })

  it('of what is half-made are known from all others', () => {
    const half = halfMadeName(recordOf(ours), '00ff')
    expect(halfMadeIn([ours, recordOf(ours), half, '.hidden'])).toEqual([half])
    expect(leftoversIn([half], new Set(), () => true)).toEqual({ remove: [], unknown: [] })
  })
})

describe('a progress record', () => {
  const record = {
    attempt: 1,
    offset: 8 * 2 ** 20,
    size: 2 ** 40,
    validator: '"etag"',
    complete: false,
    sha256: 'b'.repeat(64) as Sha256,
  }

  it('is read as it was written', () => {
    expect(parseRecord(formatRecord(record))).toEqual(record)
    const { sha256: _, ...without } = { ...record, size: null, validator: null }
    expect(parseRecord(formatRecord(without))).toEqual(without)
  })

  it('is none when any byte of it is gone or another', () => {
    const text = formatRecord(record)
    for (let at = 0; at < text.length - 1; at++) {
      expect(parseRecord(text.slice(0, at)), `cut at ${at}`).toBeNull()
      const other = text[at] === '1' ? '2' : '1'
      expect(parseRecord(text.slice(0, at) + other + text.slice(at + 1)), `changed at ${at}`).toBeNull()
    }
    expect(parseRecord(text.replace('"version":1', '"version":2'))).toBeNull()
  })
})
