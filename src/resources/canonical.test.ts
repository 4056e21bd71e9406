import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { canonicalSpec, specSchemaOf, withoutDefaults } from './canonical.ts'
import { data, duration, listBy, mapOrNames, reference, setOf, settings, size } from './fields.ts'
import { defineKind, type Spec } from './kind.ts'
import { plainName } from './names.ts'

const shelf = defineKind({
  kind: 'Shelf',
  summary: 'made up',
  displayName: { unique: true, least: 1, most: 50 },
  spec: z.strictObject({
    size: size().optional(),
    every: duration().default('60s'),
    tags: setOf(z.string()).default(['b', 'a']),
    places: setOf(z.strictObject({ x: z.number(), y: z.number().default(0) })).optional(),
    members: listBy('name', z.strictObject({ name: z.string(), weight: z.number().default(1) })).optional(),
    machines: mapOrNames(plainName(), z.strictObject({ optional: z.boolean().default(false) })).default({}),
    backoff: z
      .strictObject({ initial: duration().default('30s'), max: duration().default('5m') })
      .default({ initial: '30s', max: '5m' }),
    store: reference('Store', 'Shelf').optional(),
    amount: z.union([z.number(), z.string()]).optional(),
    origin: z
      .union([z.strictObject({ every: duration() }), z.strictObject({ size: size(), fast: z.boolean().default(true) })])
      .optional(),
    settings: z.record(z.string(), settings()).optional(),
    value: data().optional(),
    tree: z.json().optional(),
  }),
  columns: [],
  example: '',
})

const canonical = (spec: Spec) => canonicalSpec(shelf, spec)
const defaults = {
  every: '1m',
  tags: ['a', 'b'],
  machines: {},
  backoff: { initial: '30s', max: '5m' },
}

describe('a canonical spec', () => {
  it('has defaults filled, in canonical form themselves', () => {
    expect(canonical({})).toEqual(defaults)
  })

  it.each<[string, Spec, Spec]>([
    ['units in one spelling', { size: '1024MiB', every: '90m' }, { size: '1GiB', every: '1h30m' }],
    ['sets sorted, without repetition', { tags: ['z', 'a', 'z'] }, { tags: ['a', 'z'] }],
    [
      'sets of objects compared with their defaults',
      { places: [{ y: 0, x: 1 }, { x: 1 }] },
      { places: [{ x: 1, y: 0 }] },
    ],
    [
      'lists with keys in their order',
      { members: [{ name: 'b' }, { name: 'a' }] },
      {
        members: [
          { name: 'b', weight: 1 },
          { name: 'a', weight: 1 },
        ],
      },
    ],
    ['names as a map', { machines: ['b', 'a'] }, { machines: { a: { optional: false }, b: { optional: false } } }],
    ['defaults of a part', { backoff: { max: '600s' } }, { backoff: { initial: '30s', max: '10m' } }],
    ['the form of a choice that fits', { origin: { size: '1024' } }, { origin: { size: '1KiB', fast: true } }],
    ['a choice of scalars as it is', { amount: '5%' }, { amount: '5%' }],
  ])('has %s', (_, spec, expected) => {
    expect(canonical(spec)).toEqual({ ...defaults, ...expected })
  })

  it('has its keys in the order of the schema, and of the alphabet where there is none', () => {
    const spec = canonical({
      associations: [{ name: 'y', kind: 'Label' }],
      settings: { b: { d: 1, c: 2 }, a: 0 },
      value: { z: [{ y: 1, x: 2 }] },
      tree: { n: { m: 1, l: 2 } },
      store: { name: 'x', kind: 'Shelf' },
      size: '1B',
      name: 'n',
    })
    expect(JSON.stringify(spec)).toBe(
      '{"name":"n","size":"1B","every":"1m","tags":["a","b"],"machines":{},"backoff":{"initial":"30s","max":"5m"},' +
        '"store":{"kind":"Shelf","name":"x"},"settings":{"a":0,"b":{"c":2,"d":1}},"value":{"z":[{"x":2,"y":1}]},' +
        '"tree":{"n":{"l":2,"m":1}},"associations":[{"kind":"Label","name":"y"}]}',
    )
  })

  it('keeps what does not fit as it is, and drops unknown keys', () => {
    expect(canonical({ size: 'huge', every: 5, tags: 'a', backoff: [], machines: 7, stray: true })).toEqual({
      ...defaults,
      size: 'huge',
      every: 5,
      tags: 'a',
      backoff: [],
      machines: 7,
    })
  })

  it('gives every spec its own defaults', () => {
    const first = canonical({}) as { backoff: { initial: string } }
    first.backoff.initial = 'changed'
    expect(canonical({})).toEqual(defaults)
  })

  it('pollutes no prototype', () => {
    const spec = JSON.parse('{"settings": {"__proto__": {"admin": 1}, "constructor": 2}, "__proto__": {"size": "1B"}}')
    const made = canonical(spec)
    expect(made).toEqual({ ...defaults, settings: { constructor: 2 } })
    expect(Object.getPrototypeOf(made)).toBe(Object.prototype)
    expect(({} as { admin?: unknown }).admin).toBeUndefined()
  })

  it('is made of a schema that is made once', () => {
    expect(specSchemaOf(shelf)).toBe(specSchemaOf(shelf))
    expect(Object.keys(specSchemaOf(shelf).shape).at(0)).toBe('name')
    expect(Object.keys(specSchemaOf(shelf).shape).at(-1)).toBe('associations')
  })
})

describe('a spec without defaults', () => {
  it('is what a person would have written', () => {
    expect(
      withoutDefaults(shelf, {
        every: '60s',
        tags: ['b', 'a'],
        backoff: { initial: '1s', max: '5m' },
        members: [
          { name: 'a', weight: 1 },
          { name: 'b', weight: 2 },
        ],
        machines: { box: { optional: false } },
        origin: { size: '1KiB', fast: true },
        settings: { a: false },
        size: '1B',
      }),
    ).toEqual({
      size: '1B',
      members: [{ name: 'a' }, { name: 'b', weight: 2 }],
      machines: { box: {} },
      backoff: { initial: '1s' },
      origin: { size: '1KiB' },
      settings: { a: false },
    })
  })

  it('means the same spec', () => {
    const spec: Spec = { tags: [], machines: ['a'], backoff: { max: '1h' }, size: '2kB', amount: 3 }
    expect(canonical(withoutDefaults(shelf, spec))).toEqual(canonical(spec))
  })
})
