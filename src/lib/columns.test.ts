import { expect, it } from 'vitest'
import { columns, wrap } from './columns.ts'
import { aStyle } from './style.fake.ts'
import { painter } from './style.ts'

it('aligns all columns but the last, signs close to what they mark, and leaves no space at the end', () => {
  expect(
    columns(
      [
        ['+', 'runc', '1.2'],
        ['~', 'containerd', ''],
      ],
      aStyle(),
    ),
  ).toEqual(['  + runc        1.2', '  ~ containerd'])
})

it('lets the last column go on below itself where the terminal ends', () => {
  expect(
    columns([['web.service', 'the reason is a long one and needs more than a line']], aStyle({ width: 42 })),
  ).toEqual(['  web.service  the reason is a long one', '               and needs more than a line'])
})

it('puts the last column below the row where there is no room beside it', () => {
  const row = ['cairn node apply -f overlay.json', 'make it so on this machine']
  expect(columns([row], aStyle({ width: 40 }))).toEqual([
    '  cairn node apply -f overlay.json',
    '      make it so on this machine',
  ])
})

it('never cuts a word', () => {
  const state = 'a'.repeat(60)
  expect(columns([[state], ['x', state]], aStyle({ width: 30 }))).toEqual([`  ${state}`, `  x ${state}`])
})

it('counts colour as no width', () => {
  const [first = '', second = ''] = columns(
    [
      [{ text: '+', tone: 'done' }, 'a'],
      ['ab', 'a'],
    ],
    aStyle({ paint: painter(true) }),
  )
  expect(first).toBe('  \x1b[32m+\x1b[39m   a')
  expect(second).toBe('  ab  a')
})

it('keeps a cell on one line', () => {
  expect(columns([['a\n  b', 'c']], aStyle())).toEqual(['  a b  c'])
})

it('keeps the spaces of what fits', () => {
  expect(wrap('a  b', 10)).toEqual(['a  b'])
})
