import { describe, expect, it } from 'vitest'
import { readTree } from './tree.ts'
import { aTree, effectiveOf, unit } from './units.fake.ts'

const base = '[Service]\nExecStart=/a\n'
const set = (value: string) => `[Service]\nX=${value}\n`
const valuesOfX = (files: Record<string, string>, name: string) =>
  effectiveOf(files, name).sections.get('Service')?.get('X')

describe('readTree', () => {
  it('reads drop-ins of all directories in the order of their file names', () => {
    const files = {
      'web-api.service': `${base}X=base\n`,
      'web-api.service.d/30-c.conf': set('unit'),
      'web-.service.d/20-b.conf': set('prefix'),
      'service.d/10-a.conf': set('type'),
      'socket.d/10-a.conf': set('other type'),
      'web-api.service.d/README': set('no drop-in'),
    }
    expect(valuesOfX(files, 'web-api.service')).toEqual(['base', 'type', 'prefix', 'unit'])
  })

  it('prefers the more specific directory for an equal file name', () => {
    const files = {
      'a-b-c.service.d/1.conf': set('unit'),
      'a-b-.service.d/1.conf': set('long prefix'),
      'a-b-.service.d/2.conf': set('long prefix'),
      'a-.service.d/2.conf': set('short prefix'),
      'a-.service.d/3.conf': set('short prefix'),
      'service.d/3.conf': set('type'),
    }
    expect(valuesOfX(files, 'a-b-c.service')).toEqual(['unit', 'long prefix', 'short prefix'])
  })

  it('gives an instance its template and the drop-ins of both', () => {
    const files = {
      'w@.service': `${base}X=template\n`,
      'w@.service.d/1.conf': set('all'),
      'w@a.service.d/2.conf': set('a'),
    }
    expect(valuesOfX(files, 'w@a.service')).toEqual(['template', 'all', 'a'])
    expect(valuesOfX(files, 'w@b.service')).toEqual(['template', 'all'])
  })

  it('hides a drop-in by an empty one or a link to /dev/null of the same name', () => {
    const files = { 'service.d/1.conf': set('one'), 'service.d/2.conf': set('two'), 'service.d/3.conf': set('three') }
    const hidden = { 'w.service': base, 'w.service.d/1.conf': '', 'w.service.d/2.conf': '-> /dev/null', ...files }
    expect(valuesOfX(hidden, 'w.service')).toEqual(['three'])
  })

  it('takes a link to /dev/null, or an empty file, for a mask', () => {
    const { parts } = readTree(aTree({ 'a.service': '-> /dev/null', 'b.service': '', 'a.service.d/1.conf': set('x') }))
    expect(parts(unit('a.service'))).toMatchObject({ base: 'masked', texts: [] })
    expect(parts(unit('b.service')).base).toBe('masked')
  })

  it('follows aliases, and reads the drop-ins that were written for an alias', () => {
    const files = { 'web.service': base, 'www.service': '-> web.service', 'www.service.d/1.conf': set('alias') }
    const units = readTree(aTree(files))
    expect(units.parts(unit('www.service')).name).toBe('web.service')
    expect(valuesOfX(files, 'web.service')).toEqual(['alias'])
    expect([...units.declared]).toEqual(['web.service'])
  })

  it('gives up on aliases that lead in a circle', () => {
    const { parts } = readTree(aTree({ 'a.service': '-> b.service', 'b.service': '-> a.service' }))
    expect(parts(unit('a.service'))).toMatchObject({ base: 'elsewhere', own: false })
  })

  it('carries an instance over an alias of its template', () => {
    const { parts } = readTree(
      aTree({ 'w@.service': base, 'v@.service': '-> w@.service', 'w@x.service': '-> w@.service' }),
    )
    expect(parts(unit('v@a.service')).name).toBe('w@a.service')
    expect(parts(unit('w@x.service'))).toMatchObject({ name: 'w@x.service', base: 'here' })
  })

  it('knows a unit of which it has only drop-ins, and one of which it has nothing', () => {
    const { parts } = readTree(aTree({ 'ssh.service.d/1.conf': set('x'), 'service.d/2.conf': set('y') }))
    expect(parts(unit('ssh.service'))).toMatchObject({ base: 'elsewhere', own: true })
    expect(parts(unit('cron.service'))).toMatchObject({ base: 'elsewhere', own: false })
  })

  it('clears values, and remembers that it did when the base is elsewhere', () => {
    const cleared = '[Service]\nX=a\nX=\nX=b\n'
    expect(valuesOfX({ 'w.service': cleared }, 'w.service')).toEqual(['b'])
    expect(valuesOfX({ 'w.service.d/1.conf': cleared }, 'w.service')).toEqual(['', 'b'])
  })

  it('finds who wants whom, except where the link is masked', () => {
    const units = readTree(
      aTree({
        'w@.service': base,
        'multi-user.target.wants/w@a.service': '-> ../w@.service',
        'multi-user.target.wants/b.service': '-> /dev/null',
        'x.target.requires/c.service': '-> ../c.service',
        'notes.txt': 'not a unit',
        'sub/dir/d.service': 'too deep',
      }),
    )
    expect([...units.wants]).toEqual([
      ['multi-user.target', new Set(['w@a.service'])],
      ['x.target', new Set(['c.service'])],
    ])
    expect([...units.requires.keys()]).toEqual(['x.target'])
    expect([...units.declared]).toEqual(['w@a.service'])
  })
})
