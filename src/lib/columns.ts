// Aligned columns. Colour is put on after padding, so that it changes no width. When a row would not fit, its last column
// goes on below itself, or below the row where there is no room beside it; nothing is cut, because a cut name cannot be copied.
import type { Style, Tone } from './style.ts'

export type Cell = string | { readonly text: string; readonly tone: Tone }

/** A column of signs stands close to what it marks. */
const gapAfter = (width: number): number => (width <= 1 ? 1 : 2)
/** With less room than this the last column goes below the row. */
const narrowest = 24

export const columns = (rows: readonly (readonly Cell[])[], style: Style, indent = '  '): string[] =>
  columnRows(rows, style, indent).flat()

/** The lines of each row. */
export function columnRows(rows: readonly (readonly Cell[])[], style: Style, indent = '  '): string[][] {
  const widths: number[] = []
  for (const row of rows)
    row.forEach((cell, index) => {
      if (index < row.length - 1) widths[index] = Math.max(widths[index] ?? 0, lengthOf(textOf(cell)))
    })
  return rows.map(row => layRow(row, widths, style, indent))
}

function layRow(row: readonly Cell[], widths: readonly number[], style: Style, indent: string): string[] {
  const last = row.at(-1)
  if (last === undefined) return ['']
  const before = row.slice(0, -1).map((cell, index) => {
    const text = textOf(cell)
    const width = widths[index] ?? 0
    return paintCell(cell, text, style) + ' '.repeat(width - lengthOf(text) + gapAfter(width))
  })
  const offset = widths.slice(0, row.length - 1).reduce((sum, width) => sum + width + gapAfter(width), lengthOf(indent))
  const room = style.width - offset
  const below = row.length > 1 && room < narrowest && lengthOf(textOf(last)) > room
  const lastIndent = below ? `${indent}    ` : ' '.repeat(offset)
  const lines = wrap(textOf(last), Math.max(style.width - lengthOf(lastIndent), narrowest))
  const [first = '', ...more] = below ? ['', ...lines] : lines
  return [
    (indent + before.join('') + paintCell(last, first, style)).trimEnd(),
    ...more.map(line => lastIndent + paintCell(last, line, style)),
  ]
}

/** Breaks at spaces; a word longer than the width stays whole. */
export function wrap(text: string, width: number): string[] {
  if (lengthOf(text) <= width) return [text]
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && lengthOf(line) + 1 + lengthOf(word) > width) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line]
}

const textOf = (cell: Cell): string => (typeof cell === 'string' ? cell : cell.text).replace(/\s*\n\s*/g, ' ')
const paintCell = (cell: Cell, text: string, style: Style) =>
  typeof cell === 'string' ? text : style.paint(cell.tone, text)
const lengthOf = (text: string): number => [...text].length
