import { describe, expect, it } from 'vitest'
import { halfMadeName, wholeNameOf } from './half-made.ts'

describe('a half-made name', () => {
  it('is known by the name that it will have', () => {
    for (const name of ['ledger.json', 'web+data#1.raw', '.hidden', 'x.tmp-0123456789ab'])
      for (const random of [0, 0.5, 0.999_999_999_999_999])
        expect(wholeNameOf(halfMadeName(name, () => random))).toBe(name)
  })

  it('is not seen in others', () => {
    for (const name of ['ledger.json', '.ledger.json.tmp-', '.ledger.json.tmp-01234', 'ledger.json.tmp-0123456789ab'])
      expect(wholeNameOf(name)).toBeNull()
  })
})
