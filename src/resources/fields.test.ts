import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import {
  data,
  duration,
  immutable,
  listBy,
  mapOrNames,
  markedFields,
  reference,
  secret,
  secretName,
  setOf,
  settings,
  size,
} from './fields.ts'
import { plainName } from './names.ts'

const found = (schema: z.ZodType, value: unknown) =>
  [...markedFields(schema, value)].map(({ path, mark }) => [path.join('.'), mark])

describe('marked fields', () => {
  it('are found in objects, lists, maps and choices', () => {
    const schema = z.strictObject({
      every: duration(),
      parts: z.array(z.strictObject({ size: size() })),
      stores: z.record(z.string(), reference('Store')),
      login: z.union([z.string(), z.strictObject({ password: secret() })]),
      plain: z.string(),
    })
    const value = {
      every: '1m',
      parts: [{ size: '1GiB' }, {}],
      stores: { a: { name: 'x' } },
      login: { password: { secretRef: { key: 'k' } } },
      plain: 'p',
    }
    expect(found(schema, value)).toEqual([
      ['every', { unit: 'duration' }],
      ['parts.0.size', { unit: 'size' }],
      ['stores.a', { reference: ['Store'] }],
      ['login.password', { secret: 'value' }],
    ])
  })

  it('keep their marks through describe, refine, min, optional and default, and are told once', () => {
    const schema = z.strictObject({
      a: reference('Store').describe('a store').optional(),
      b: setOf(z.string()).min(1).default(['x']),
      c: immutable(size().describe('s').optional()),
      d: listBy('name', secretName()).nullable(),
    })
    expect(found(schema, { a: { name: 'x' }, b: ['y'], c: '1B', d: [{ name: 'k' }] })).toEqual([
      ['a', { reference: ['Store'] }],
      ['b', { set: true }],
      ['c', { unit: 'size', immutable: true }],
      ['d', { listKey: 'name' }],
      ['d.0', { secret: 'named' }],
    ])
  })

  it('are told whatever stands there, so that a clear text in place of a secret is seen', () => {
    expect(found(z.strictObject({ password: secret().optional() }), { password: 'geheim' })).toEqual([
      ['password', { secret: 'value' }],
    ])
  })

  it('are found in schemas that contain themselves', () => {
    const tree: z.ZodType = z.strictObject({ size: size(), below: z.array(z.lazy(() => tree)).optional() })
    expect(found(tree, { size: '1B', below: [{ size: '2B' }] }).map(([path]) => path)).toEqual(['size', 'below.0.size'])
  })

  it('do not come from a prototype', () => {
    expect(found(z.strictObject({ constructor: size() }), {})).toEqual([])
  })
})

describe('settings', () => {
  const schema = z.strictObject({ settings: z.record(z.string(), settings()) })

  it('may hold secrets and variables at any depth', () => {
    const value = {
      settings: {
        password: { secretRef: { key: 'db' } },
        peers: [{ name: { variableRef: { name: 'peer' } } }],
        plain: { secretRef: 'a key beside it', makes: 'it data' },
      },
    }
    expect(schema.safeParse(value).success).toBe(true)
    expect(found(schema, value).filter(([, mark]) => !(mark as { free?: string }).free)).toEqual([
      ['settings.password', { secret: 'value' }],
      ['settings.peers.0.name.variableRef', { reference: ['Variable'] }],
    ])
  })

  it('refuse a secret or a variable that is not named, with its place', () => {
    const { error } = schema.safeParse({ settings: { a: [{ variableRef: 'peer' }], b: { secretRef: { kye: 'k' } } } })
    expect(error?.issues.map(({ path }) => path.join('.'))).toEqual(['settings.a.0.variableRef', 'settings.b'])
  })

  it('take operators as data', () => {
    expect(schema.safeParse({ settings: { a: { $forced: 1 }, b: { $remove: ['x'] } } }).success).toBe(true)
  })

  it('refuse a key that would be a prototype', () => {
    const value = JSON.parse('{"settings": {"a": {"b": {"__proto__": {"admin": true}}}}}')
    expect(schema.safeParse(value).error?.issues).toMatchObject([
      { code: 'unrecognized_keys', path: ['settings', 'a', 'b'] },
    ])
  })
})

describe('data', () => {
  it('is any JSON, but has to be there', () => {
    const schema = z.strictObject({ value: data() })
    for (const value of [null, 0, '', false, [], {}, { secretRef: 1 }])
      expect(schema.safeParse({ value }).success).toBe(true)
    expect(schema.safeParse({}).success).toBe(false)
  })

  it('holds no references of its own', () => {
    expect(found(z.strictObject({ value: data() }), { value: { variableRef: { name: 'x' } } })).toEqual([
      ['value', { free: 'data' }],
    ])
  })
})

describe('a map or a list of names', () => {
  const schema = mapOrNames(plainName(), z.strictObject({ size: size().optional() }))

  it('takes both, and refuses bad names in both', () => {
    expect(schema.safeParse(['a', 'b']).success).toBe(true)
    expect(schema.safeParse({ a: {}, b: { size: '1B' } }).success).toBe(true)
    expect(schema.safeParse(['A']).success).toBe(false)
    expect(schema.safeParse({ A: {} }).success).toBe(false)
    expect(schema.safeParse(['constructor']).success).toBe(false)
  })
})
