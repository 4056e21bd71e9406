// Bad input as a table: each row is one test of everything that is told about a text.
import { expect, it } from 'vitest'
import { type Asked, told, understandText } from './understand.fake.ts'

/** `problems` as `told` spells them; `hint` is a part of the first one's. */
type Row = readonly [about: string, text: string, problems: readonly string[], hint?: string | undefined, asked?: Asked]

export function checkRows(rows: readonly Row[]): void {
  for (const [about, text, problems, hint = '', asked] of rows)
    it(about, () => {
      const understood = understandText(text, asked)
      expect(told(understood.problems)).toEqual(problems)
      expect(understood.warnings).toEqual([])
      if (hint) expect(understood.problems[0]?.hint).toContain(hint)
    })
}
