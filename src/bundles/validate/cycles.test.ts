import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { circlesOf } from './cycles.ts'

const parameters = {
  numRuns: Number(process.env.CAIRN_RUNS ?? 300),
  ...(process.env.CAIRN_SEED && { seed: Number(process.env.CAIRN_SEED) }),
}

const node = fc.constantFrom('a', 'b', 'c', 'd', 'e')

describe('circles', () => {
  it('are told one for each group, the shortest through its least member', () => {
    const edges = new Map([
      ['c', ['a']],
      ['b', ['c', 'a']],
      ['a', ['b']],
      ['x', ['x', 'a']],
      ['y', ['x']],
    ])
    expect(circlesOf(edges).sort()).toEqual([
      ['a', 'b', 'a'],
      ['x', 'x'],
    ])
  })

  it('are found in a chain of any length', () => {
    const length = 50_000
    const chain = Array.from({ length }, (_, index) => [`n${index}`, [`n${index + 1}`]] as const)
    expect(circlesOf(new Map(chain))).toEqual([])
    expect(circlesOf(new Map([...chain, [`n${length}`, ['n0']]]))[0]).toHaveLength(length + 2)
  })

  it('are told exactly when no order puts every node after those it points to', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(node, fc.array(node, { maxLength: 3 })), { maxLength: 5 }), pairs => {
        const edges = new Map<string, string[]>(pairs)
        const circles = circlesOf(edges)
        expect(circles.length === 0).toBe(hasOrder(edges))
        for (const circle of circles) {
          expect(circle[0]).toBe(circle.at(-1))
          for (const [index, from] of circle.slice(0, -1).entries())
            expect(edges.get(from)).toContain(circle[index + 1])
        }
      }),
      parameters,
    )
  })
})

/** Takes away nodes that point to nothing, until none is left or none can go. */
function hasOrder(edges: ReadonlyMap<string, readonly string[]>): boolean {
  const left = new Map(edges)
  for (;;) {
    const free = [...left].filter(([, to]) => !to.some(target => left.has(target)))
    if (free.length === 0) return left.size === 0
    for (const [node] of free) left.delete(node)
  }
}
