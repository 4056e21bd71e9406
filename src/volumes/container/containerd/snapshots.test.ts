import { expect, it } from 'vitest'
import type { Sha256 } from '../../../content/messages.ts'
import { sha256Hex } from '../../../lib/json.ts'
import { chainIds } from './snapshots.ts'

it('names a layer by the chain of all layers down to it', () => {
  const [a, b, c] = ['a', 'b', 'c'].map(name => sha256Hex(name) as Sha256) as [Sha256, Sha256, Sha256]
  const second = `sha256:${sha256Hex(`sha256:${a} sha256:${b}`)}`
  expect(chainIds([a, b, c])).toEqual([`sha256:${a}`, second, `sha256:${sha256Hex(`${second} sha256:${c}`)}`])
  expect(chainIds([])).toEqual([])
})
