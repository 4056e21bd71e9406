import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { layoutOf, linkThroughStatic } from './layout.ts'
import type { EtcTarget } from './names.ts'

describe('linkThroughStatic', () => {
  it.each([
    ['motd', '/cairn', '../cairn/etc/static/motd'],
    ['a/b/c', '/cairn', '../../../cairn/etc/static/a/b/c'],
    ['a/b', '/opt/store/', '../../opt/store/etc/static/a/b'],
  ])('leads from /etc/%s through static in %s', (target, store, text) => {
    expect(linkThroughStatic(layoutOf({ store }), target as EtcTarget)).toBe(text)
    expect(resolve('/etc', join(target, '..'), text)).toBe(join(store, 'etc/static', target))
  })
})

describe('layoutOf', () => {
  it('puts everything below the root, and says to the machine what it sees', () => {
    expect(layoutOf({ root: '/try' })).toMatchObject({
      prefix: '/try',
      store: '/cairn',
      states: '/try/cairn/states',
      etc: '/try/etc',
    })
    expect(layoutOf({ root: '/' }).states).toBe('/cairn/states')
  })
})
