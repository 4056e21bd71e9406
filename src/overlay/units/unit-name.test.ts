import { describe, expect, it } from 'vitest'
import {
  instanceOf,
  instantiate,
  isTemplate,
  isUnitFileName,
  mountPoint,
  prefixOf,
  sibling,
  templateOf,
  typeOf,
  unitNameOf,
} from './unit-name.ts'
import { unit } from './units.fake.ts'

describe('unitNameOf', () => {
  it.each([
    ['containerd', 'containerd.service'],
    ['foo.socket', 'foo.socket'],
    ['foo@.service', 'foo@.service'],
    ['foo@', 'foo@.service'],
    ['foo.bar', 'foo.bar.service'],
    ['-.mount', '-.mount'],
    ['-x.service', '-x.service'],
    ['a\\x2db.service', 'a\\x2db.service'],
    ['a:b', 'a:b.service'],
    ['x'.repeat(128), `${'x'.repeat(128)}.service`],
  ])('takes the key %s for %s', (key, name) => {
    expect(unitNameOf(key)).toBe(name)
  })

  it.each(['', '../x', 'a/b', 'straße', 'foo.', '.service', '@a.service', 'a b', 'a+b', 'a\nb', 'x'.repeat(129)])(
    'refuses the key %j and says where it stands',
    key => {
      expect(unitNameOf(key)).toMatchObject({
        code: 'name.invalid',
        path: expect.stringMatching(/^systemdUnitsByName/),
      })
    },
  )
})

describe('unit names', () => {
  it('are files that systemd would load', () => {
    expect(['a.service', 'a@b@c.timer', 'dev-sda.device'].every(isUnitFileName)).toBe(true)
    expect(['README', 'a.conf', '@.service', '.service', `${'x'.repeat(250)}.service`].some(isUnitFileName)).toBe(false)
  })

  it('come apart into prefix, instance and type', () => {
    const name = unit('getty@tty1.service')
    expect([prefixOf(name), instanceOf(name), typeOf(name)]).toEqual(['getty', 'tty1', 'service'])
    expect(templateOf(name)).toBe('getty@.service')
    expect(instantiate(unit('getty@.service'), 'tty2')).toBe('getty@tty2.service')
    expect([instanceOf(unit('a.b.service')), prefixOf(unit('a.b.service'))]).toEqual([null, 'a.b'])
    expect([isTemplate(unit('getty@.service')), isTemplate(name), templateOf(unit('a.service'))]).toEqual([
      true,
      false,
      null,
    ])
    expect(sibling(name, 'socket')).toBe('getty@tty1.socket')
  })

  it('of mounts say where they are mounted', () => {
    expect([unit('-.mount'), unit('var-lib.mount'), unit('srv-a\\x2db.mount')].map(mountPoint)).toEqual([
      '/',
      '/var/lib',
      '/srv/a-b',
    ])
  })
})
