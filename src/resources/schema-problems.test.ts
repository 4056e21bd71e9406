import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { checkSchema } from './check.ts'
import { duration, mapOrNames, reference, setOf, settings } from './fields.ts'
import { lifecycleSchema } from './metadata.ts'
import { plainName } from './names.ts'
import { schemaProblems } from './schema-problems.ts'

const problems = (schema: z.ZodType, value: unknown) => {
  const { error } = schema.safeParse(value, { reportInput: true })
  return error ? schemaProblems(schema, error) : []
}
const faults = (schema: z.ZodType, value: unknown) => problems(schema, value).map(({ code, path }) => `${code} ${path}`)

describe('a value out of its bounds', () => {
  const schema = z.strictObject({
    port: z.number().int().min(1).max(65_535).optional(),
    name: z.string().min(2).max(5).optional(),
    list: setOf(z.string()).min(1).max(2).optional(),
  })

  it.each<[unknown, string, RegExp]>([
    [{ port: 0 }, 'value.range port', /^must be at least 1, got 0$/],
    [{ port: 80_801 }, 'value.range port', /^must be at most 65535, got 80801$/],
    [{ port: 1e300 }, 'value.range port', /at most/],
    [{ port: 1.5 }, 'value.type port', /^must be a whole number$/],
    [{ port: Number.NaN }, 'value.type port', /number/],
    [{ name: 'x' }, 'value.too-short name', /^must have at least 2 characters$/],
    [{ name: 'xxxxxx' }, 'value.too-long name', /^must have at most 5 characters$/],
    [{ list: [] }, 'value.too-short list', /^must not be empty$/],
    [{ list: ['a', 'b', 'c'] }, 'value.too-long list', /^must have at most 2 entries$/],
  ])('%j is %s', (value, fault, reason) => {
    const [problem, ...more] = problems(schema, value)
    expect(`${problem?.code} ${problem?.path}`).toBe(fault)
    expect(problem?.reason).toMatch(reason)
    expect(more).toEqual([])
  })
})

describe('a key that nobody knows', () => {
  const schema = z.strictObject({
    module: z.strictObject({ input: z.string().default('x'), name: z.string() }).default({ input: 'x', name: 'y' }),
    parts: z
      .array(z.strictObject({ size: z.string() }))
      .nullable()
      .optional(),
    lazy: z.lazy(() => z.strictObject({ every: z.string() })).optional(),
  })

  it('is told with the one that was meant, behind defaults, lists and lazy schemas', () => {
    expect(
      problems(schema, { modul: {}, parts: [{ size: '1', sise: '1' }], lazy: { every: '', evry: '' } }),
    ).toMatchObject([
      { code: 'key.unknown', path: 'parts[0].sise', hint: 'did you mean "size"?' },
      { code: 'key.unknown', path: 'lazy.evry', hint: 'did you mean "every"?' },
      { code: 'key.unknown', path: 'modul', hint: 'did you mean "module"?' },
    ])
  })

  it('stands for the key that is missing: one Problem, not two', () => {
    expect(faults(schema, { module: { nmae: 'x' } })).toEqual(['key.unknown module.nmae'])
    expect(faults(schema, { module: { colour: 'x' } })).toEqual([
      'value.missing module.name',
      'key.unknown module.colour',
    ])
  })

  it.each(['__proto__', 'constructor', 'toString'])('may be %s', key => {
    expect(faults(schema, JSON.parse(`{"${key}": {}}`))).toEqual([`key.unknown ${key}`])
  })
})

describe('a choice between forms', () => {
  it('is judged by the form that knows most of the keys', () => {
    expect(faults(checkSchema, { name: 'a', unit: 'a.service', fro: '5s' })).toEqual(['key.unknown fro'])
    expect(faults(checkSchema, { name: 'a', tcp: 5 })).toEqual(['value.type tcp'])
    expect(faults(checkSchema, { name: 'a', htpp: 'http://x' })).toEqual(['key.unknown htpp'])
  })

  it('says what could be there when nothing tells the forms apart', () => {
    expect(problems(checkSchema, { name: 'a' })).toEqual([
      { code: 'value.missing', path: '', reason: 'needs one of http, tcp, command, file, unit' },
    ])
  })

  it('is judged by a key with a fixed value', () => {
    const schema = z.strictObject({
      from: z.union([
        z.strictObject({ type: z.literal('url'), url: z.string(), size: z.string() }),
        z.strictObject({ type: z.literal('file'), path: z.string() }),
      ]),
    })
    expect(faults(schema, { from: { type: 'file', url: 'x', size: '1' } })).toEqual([
      'value.missing from.path',
      'key.unknown from.url',
      'key.unknown from.size',
    ])
  })

  it('of a discriminated union names the values that there are', () => {
    const schema = z.strictObject({
      from: z.discriminatedUnion('type', [
        z.strictObject({ type: z.literal('url'), url: z.string() }),
        z.strictObject({ type: z.literal('file'), path: z.string() }),
      ]),
    })
    expect(problems(schema, { from: { type: 'flie' } })).toEqual([
      {
        code: 'value.not-allowed',
        path: 'from.type',
        reason: 'must be one of url, file',
        hint: 'did you mean "file"?',
      },
    ])
    expect(faults(schema, { from: {} })).toEqual(['value.missing from.type'])
    expect(faults(schema, { from: { type: 'file', path: 3 } })).toEqual(['value.type from.path'])
  })

  it('is judged by the type of the value: a list, a map, a word', () => {
    const schema = z.strictObject({ machines: mapOrNames(plainName(), z.strictObject({ optional: z.boolean() })) })
    expect(faults(schema, { machines: ['a', 'B'] })).toEqual(['value.invalid machines[1]'])
    expect(faults(schema, { machines: { a: { optional: 'yes' }, B: { optional: true } } })).toEqual([
      'value.type machines.a.optional',
      'key.invalid machines.B',
    ])
    expect(problems(schema, { machines: 'a' })).toEqual([
      { code: 'value.type', path: 'machines', reason: 'must be a list or an object' },
    ])
    expect(faults(schema, {})).toEqual(['value.missing machines'])
  })

  it('of words lists them all', () => {
    expect(problems(lifecycleSchema, { adopt: 'byname' })).toEqual([
      {
        code: 'value.not-allowed',
        path: 'adopt',
        reason: 'must be one of never, byName',
        hint: 'did you mean "byName"?',
      },
    ])
    expect(faults(lifecycleSchema, { adopt: 3 })).toEqual(['value.type adopt'])
    expect(faults(lifecycleSchema, { adopt: { idd: 'x' } })).toEqual(['key.unknown adopt.idd'])
    expect(faults(lifecycleSchema, { onRemove: 'keep' })).toEqual(['value.not-allowed onRemove'])
  })

  it('of a reference says how one is written', () => {
    const schema = z.strictObject({ store: reference('Store').optional() })
    const hint = expect.stringContaining('{ name: … }')
    expect(problems(schema, { store: 'harbor' })).toMatchObject([{ code: 'value.type', path: 'store', hint }])
    expect(problems(schema, { store: {} })).toEqual([
      { code: 'value.missing', path: 'store', reason: 'needs one of name, external', hint },
    ])
    expect(faults(schema, { store: { nam: 'x' } })).toEqual(['key.unknown store.nam'])
    expect(faults(schema, { store: { name: '' } })).toEqual(['value.too-short store.name'])
    expect(faults(schema, { store: { kind: 'Disk', name: 'x' } })).toEqual(['value.not-allowed store.kind'])
  })

  it('is judged inside a choice, too', () => {
    const schema = z.union([z.string(), z.array(z.union([z.number(), z.strictObject({ every: duration() })]))])
    expect(faults(schema, [1, { every: 'soon' }, { evry: '1s' }])).toEqual([
      'value.invalid [1].every',
      'key.unknown [2].evry',
    ])
  })

  it('of a variable in settings is told at its place', () => {
    const schema = z.strictObject({ settings: z.record(z.string(), settings()) })
    expect(faults(schema, { settings: { a: { variableRef: { nmae: 'x' } } } })).toEqual([
      'value.invalid settings.a.variableRef',
    ])
  })
})

it('never repeats text of the value', () => {
  const schema = z.strictObject({
    password: reference('Secret').optional(),
    word: z.enum(['a', 'b']).optional(),
    every: duration().optional(),
    number: z.number().optional(),
  })
  const text = 'geheim-geheim'
  const told = JSON.stringify(problems(schema, { password: text, word: text, every: text, number: text }))
  expect(told).not.toContain('geheim')
})
