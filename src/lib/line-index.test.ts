import { describe, expect, it } from 'vitest'
import { lineIndex } from './line-index.ts'

describe('lineIndex', () => {
  it('counts lines and columns from 1, and knows the end of the text', () => {
    const text = 'ab\n\ncd\r\n'
    const at = lineIndex(text)
    const shown = [0, 1, 2, 3, 4, 6, 7, 8].map(offset => `${at(offset).line}:${at(offset).column}`)
    expect(shown).toEqual(['1:1', '1:2', '1:3', '2:1', '3:1', '3:3', '3:4', '4:1'])
    expect(lineIndex('')(0)).toEqual({ line: 1, column: 1 })
  })
})
