import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseSize, printSize, sizeOrProblem, spellSize } from './size.ts'

describe('sizes', () => {
  it.each([
    ['512MiB', 536_870_912],
    ['10GB', 10_000_000_000],
    ['1.5kB', 1500],
    ['4096', 4096],
    ['4096 B', 4096],
    ['1TiB', 2 ** 40],
    ['10gb', 10_000_000_000],
  ])('reads %s', (text, bytes) => {
    expect(parseSize(text)).toBe(bytes)
  })

  it.each(['', 'GB', '-1GB', '1,5GB', '10XB', '1e3', '9999999TB', '10 G'])('refuses "%s"', text => {
    expect(sizeOrProblem(text, '--max-freed')).toMatchObject({ code: 'size.invalid', path: '--max-freed' })
  })

  it.each([
    [0, '0 B'],
    [999, '999 B'],
    [1000, '1.0 kB'],
    [41_234_567, '41.2 MB'],
    [999_949, '999.9 kB'],
    [999_950, '1.0 MB'],
    [5e15, '5000.0 TB'],
  ])('prints %d as %s', (bytes, text) => {
    expect(printSize(bytes)).toBe(text)
  })

  it.each([
    ['10GiB', '10GiB'],
    ['1024MiB', '1GiB'],
    ['4096', '4KiB'],
    ['128kB', '128kB'],
    ['1.5kB', '1500B'],
    ['0', '0B'],
  ])('spells %s as %s', (text, spelling) => {
    expect(spellSize(parseSize(text))).toBe(spelling)
  })

  it('spells what it reads back as the same number', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), bytes => parseSize(spellSize(bytes)) === bytes),
      { ...(process.env.CAIRN_SEED ? { seed: Number(process.env.CAIRN_SEED) } : {}) },
    )
  })
})
