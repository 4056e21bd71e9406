import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isStateName, type StateName } from '../names.ts'
import { base32, stateNameOf } from './fingerprint.ts'
import type { Package } from './package.ts'

const seed = process.env.CAIRN_SEED ? { seed: Number(process.env.CAIRN_SEED) } : {}
const reference = (letter: string) => `dep-${letter.repeat(52)}` as StateName
const pkg: Omit<Package, 'build'> = {
  kind: 'source',
  name: 'runc',
  version: '1.0',
  inputs: { source: { type: 'url', checksum: 'sha256:00' }, etcFiles: [] },
  references: [reference('a'), reference('b')],
}

describe('stateNameOf', () => {
  it('is the name and 52 characters that never change for equal inputs', () => {
    const state = stateNameOf(pkg)
    expect(isStateName(state)).toBe(true)
    expect(state).toBe('runc-7pepgiybw7t7mwconw6rwtlyo5e2jkevf46pagjztc6vdgljengq')
  })

  it('changes with every input', () => {
    const changed: Partial<typeof pkg>[] = [
      {},
      { kind: 'systemd-unit' },
      { name: 'runc2' },
      { version: '1.1' },
      { inputs: { source: { type: 'url', checksum: 'sha256:01' }, etcFiles: [] } },
      { inputs: { source: { type: 'url', checksum: 'sha256:00' }, etcFiles: [{}] } },
      { references: [reference('a')] },
    ]
    expect(new Set(changed.map(change => stateNameOf({ ...pkg, ...change }))).size).toBe(changed.length)
  })

  it('does not depend on the order of keys or references, or on saying one twice', () => {
    const inputs = { etcFiles: [], source: { checksum: 'sha256:00', type: 'url' } }
    const references = [reference('b'), reference('a'), reference('b')]
    expect(stateNameOf({ ...pkg, inputs, references })).toBe(stateNameOf(pkg))
  })
})

describe('base32', () => {
  it.each([
    ['', ''],
    ['f', 'my'],
    ['fo', 'mzxq'],
    ['foo', 'mzxw6'],
    ['foob', 'mzxw6yq'],
    ['fooba', 'mzxw6ytb'],
    ['foobar', 'mzxw6ytboi'],
  ])('writes %j as RFC 4648 says, in lower case and without padding', (text, encoded) => {
    expect(base32(Buffer.from(text))).toBe(encoded)
  })

  it('gives different texts for different bytes of one length', () => {
    const bytes = fc.uint8Array({ minLength: 32, maxLength: 32 })
    fc.assert(
      fc.property(bytes, bytes, (a, b) => (base32(a) === base32(b)) === Buffer.from(a).equals(Buffer.from(b))),
      seed,
    )
  })
})
