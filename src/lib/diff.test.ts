import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { diffText } from './diff.ts'

const diff = (before: string, after: string) => diffText(Buffer.from(before), Buffer.from(after))

describe('diffText', () => {
  it('shows a changed line between its neighbours and folds the rest', () => {
    expect(diff('1\n2\n3\n4\n5\n6\n7\n', '1\n2\n3\n4\nfive\n6\n7\n')).toEqual([
      '  …',
      '  3',
      '  4',
      '- 5',
      '+ five',
      '  6',
      '  7',
    ])
  })

  it('shows nothing for equal texts', () =>
    expect(diff('a\nb\n', 'a\nb\n')?.filter(line => line !== '  …')).toEqual([]))

  it('gives up on bytes that are not text', () => expect(diffText(Buffer.from([0, 1]), Buffer.from('a'))).toBeNull())

  it('keeps every line that was added or removed, in order', () => {
    const lines = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 12 })
    fc.assert(
      fc.property(lines, lines, (a, b) => {
        const shown = diff(a.map(line => `${line}\n`).join(''), b.map(line => `${line}\n`).join(''))!
        const removed = shown.filter(line => line.startsWith('- ')).length
        const added = shown.filter(line => line.startsWith('+ ')).length
        expect(a.length - removed).toBe(b.length - added)
        expect(added + removed).toBe(a.length + b.length - 2 * longestCommon(a, b))
      }),
    )
  })
})

function longestCommon(a: readonly string[], b: readonly string[]): number {
  const rows = a.map(() => b.map(() => 0))
  a.forEach((x, i) => {
    b.forEach((y, j) => {
      const above = rows[i - 1]?.[j] ?? 0
      const left = rows[i]![j - 1] ?? 0
      rows[i]![j] = x === y ? (rows[i - 1]?.[j - 1] ?? 0) + 1 : Math.max(above, left)
    })
  })
  return rows.at(-1)?.at(-1) ?? 0
}
