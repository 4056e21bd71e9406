import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { StateName } from '../names.ts'
import { base32 } from './fingerprint.ts'
import { referenceScanner } from './references.ts'

const seed = process.env.CAIRN_SEED ? { seed: Number(process.env.CAIRN_SEED) } : {}
const state = (name: string) => `${name}-${base32(randomBytes(32))}` as StateName
const [one, two, unknown] = [state('one'), state('two'), state('unknown')]

function found(...chunks: (string | Buffer)[]): StateName[] {
  const scanner = referenceScanner([one, two])
  for (const [index, chunk] of chunks.entries()) scanner.scan(Buffer.from(chunk as string), index === 0)
  return scanner.found()
}

describe('referenceScanner', () => {
  it.each([
    ['a path in a text', `ExecStart=/cairn/states/${one}/bin/run --x`],
    ['the very start', `${one}`],
    ['the very end', `x ${one}`],
    ['binary bytes', Buffer.concat([randomBytes(1000), Buffer.from(`\0/${one}\0`), randomBytes(1000)])],
    ['a run of the same kind of characters around it', `${'a'.repeat(200)}-${one}abc`],
  ])('finds a known state in %s', (_, text) => {
    expect(found(text)).toEqual([one])
  })

  it('finds several, each once, sorted, and no state that is not known', () => {
    expect(found(`${two} ${one} ${unknown} ${one}`)).toEqual([one, two].sort())
  })

  it('needs the dash and the whole fingerprint', () => {
    const fingerprint = one.slice(-52)
    expect(found(fingerprint, ` -${fingerprint.slice(0, 51)} `, `-x${fingerprint}`, fingerprint.toUpperCase())).toEqual(
      [],
    )
  })

  it('finds one that lies across chunks, however these fall', () => {
    const text = Buffer.concat([randomBytes(100), Buffer.from(`/cairn/states/${one}/bin`), randomBytes(100)])
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(text.length), { maxLength: 12 }), cuts => {
        const at = [0, ...cuts.sort((a, b) => a - b), text.length]
        const chunks = at.slice(1).map((end, index) => text.subarray(at[index], end))
        expect(found(...chunks)).toEqual([one])
      }),
      seed,
    )
  })

  it('takes the end of one file and the start of the next for nothing', () => {
    const scanner = referenceScanner([one])
    scanner.scan(Buffer.from(one.slice(0, 30)), true)
    scanner.scan(Buffer.from(one.slice(30)), true)
    expect(scanner.found()).toEqual([])
  })
})
