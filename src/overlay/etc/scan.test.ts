import * as fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { realFiles } from '../../lib/files.ts'
import { ownsNothing } from './entry.ts'
import { type FakeMachine, fakeMachine } from './etc.fake.ts'
import { scanEtc, sweepLitter } from './scan.ts'

let machine: FakeMachine
beforeEach(() => {
  machine = fakeMachine()
})
afterEach(() => machine.remove())

const etc = (path: string) => join(machine.layout.etc, path)
const linked = (path: string, text: string) => {
  fs.mkdirSync(join(etc(path), '..'), { recursive: true })
  fs.symlinkSync(text, etc(path))
}
const scan = () => scanEtc(realFiles, machine.layout)

it('finds every link whose path leads into static, relative, absolute or hidden', () => {
  linked('a', '../cairn/etc/static/a')
  linked('d/.b', '../../cairn/etc/static/d/.b')
  linked('c', '/cairn/etc/static/c')
  linked('e/f', '../../cairn/./etc/../etc/static/e/f')
  expect(scan().links.map(({ target, own }) => [target, own])).toEqual([
    ['a', true],
    ['c', true],
    ['d/.b', true],
    ['e/f', true],
  ])
})

it('goes by path components and not by the beginning of a text', () => {
  linked('a', '../cairn/etc/static-of-somebody/a')
  linked('b', '/cairn/etc/staticb')
  linked('c', '../cairn/states/x/c')
  linked('d', '../../cairn/etc/static/../backup/d')
  expect(scan().links).toEqual([])
})

it('tells links of ours from links that somebody else made to ours', () => {
  linked('alias', '../cairn/etc/static/a')
  linked('whole', '/cairn/etc/static')
  expect(scan().links.map(({ own }) => own)).toEqual([false, false])
})

it('does not follow links, and stops at its depth', () => {
  linked('loop', '.')
  linked(`${'d/'.repeat(40)}deep`, '/cairn/etc/static/deep')
  linked(`${'e/'.repeat(10)}deep`, `/cairn/etc/static/${'e/'.repeat(10)}deep`)
  expect(scan().links.map(({ target }) => target)).toEqual([`${'e/'.repeat(10)}deep`])
})

it('finds nothing on a machine without /etc', () => {
  fs.rmdirSync(machine.layout.etc)
  expect(scan()).toEqual({ links: [], litter: [] })
})

it('sweeps what a killed apply left, in /etc, beside static and among the backups, and nothing else', () => {
  machine.write('d/.cairn-tmp-1-x', 'half')
  machine.write('d/.cairn-tmp-2-dir/in/it', 'half')
  machine.write('d/.cairn-config', 'not ours')
  linked('.cairn-tmp-3-link', 'x')
  fs.symlinkSync('x', join(machine.layout.static, '../.cairn-tmp-4-static'))
  fs.writeFileSync(join(machine.layout.backups, '.cairn-tmp-5-y'), '')
  expect(scan().litter).toEqual(['.cairn-tmp-3-link', 'd/.cairn-tmp-1-x', 'd/.cairn-tmp-2-dir'])
  expect(sweepLitter(realFiles, machine.layout)).toBe(5)
  expect(fs.readdirSync(machine.layout.etc, { recursive: true }).toSorted()).toEqual(['d', 'd/.cairn-config'])
  expect(sweepLitter(realFiles, machine.layout)).toBe(0)
})

it('lets an apply remove what a lost manifest left', () => {
  const wanted = machine.want({ 'd/a': { text: 'x' }, b: { text: 'y' } })
  machine.apply(wanted)
  const owned = machine.apply(machine.want({ b: { text: 'y' } }), ownsNothing)
  expect(fs.existsSync(etc('d/a'))).toBe(false)
  expect(fs.readFileSync(etc('b'), 'utf8')).toBe('y')
  expect(owned.entries.map(({ target }) => target)).toEqual(['b'])
})
