// Turns a schema once into the functions that bring its values into canonical form and that leave defaults out again, so
// that ten thousand values cost no look at the schema. Both take any value: what does not fit stays as it is.
import * as z from 'zod'
import { byName } from '../lib/by-name.ts'
import { durationOrProblem, printDuration } from '../lib/duration.ts'
import { sizeOrProblem, spellSize } from '../lib/size.ts'
import { type Mark, markOf } from './fields.ts'
import { fittingOption } from './fitting-option.ts'

type Change = (value: unknown) => unknown
type Fields = Readonly<Record<string, unknown>>

const same: Change = value => value

export function canonicalizer(schema: z.core.$ZodType): Change {
  const mark = markOf(schema)
  if (mark?.unit) return unitChange(mark.unit)
  if (mark?.free) return sortedKeys
  if (mark?.reference) return referenceChange
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault)
    return canonicalizer(schema.unwrap())
  if (schema instanceof z.ZodLazy) return whenFirstUsed(() => canonicalizer(schema.unwrap()))
  if (schema instanceof z.ZodObject) return objectChange(schema)
  if (schema instanceof z.ZodArray) return arrayChange(canonicalizer(schema.element), mark)
  if (schema instanceof z.ZodRecord) return recordChange(canonicalizer(schema.valueType))
  if (schema instanceof z.ZodUnion) return mark?.map ? mapChange(schema) : unionChange(schema, canonicalizer)
  return same
}

/** For canonical values. */
export function pruner(schema: z.core.$ZodType): Change {
  if (markOf(schema)?.free) return same
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault)
    return pruner(schema.unwrap())
  if (schema instanceof z.ZodObject) {
    const fields = Object.entries(schema.shape).map(([key, field]) => ({
      key,
      prune: pruner(field),
      unless: JSON.stringify(defaultOf(field)),
    }))
    return onFields(value => {
      const kept: Record<string, unknown> = {}
      for (const { key, prune, unless } of fields) {
        const field = own(value, key)
        if (field !== undefined && (unless === undefined || JSON.stringify(field) !== unless)) kept[key] = prune(field)
      }
      return kept
    })
  }
  if (schema instanceof z.ZodArray) return arrayChange(pruner(schema.element))
  if (schema instanceof z.ZodRecord) return recordChange(pruner(schema.valueType))
  return schema instanceof z.ZodUnion ? unionChange(schema, pruner) : same
}

/** Canonical, since it is compared with what is. */
function defaultOf(field: z.core.$ZodType): unknown {
  if (field instanceof z.ZodDefault) return canonicalizer(field)(field.def.defaultValue)
  return field instanceof z.ZodOptional || field instanceof z.ZodNullable ? defaultOf(field.unwrap()) : undefined
}

function unitChange(unit: NonNullable<Mark['unit']>): Change {
  const [read, spell] = unit === 'duration' ? [durationOrProblem, printDuration] : [sizeOrProblem, spellSize]
  return value => {
    const amount = typeof value === 'string' ? read(value, '') : undefined
    return typeof amount === 'number' ? spell(amount) : value
  }
}

function objectChange(schema: z.ZodObject): Change {
  const fields = Object.entries(schema.shape).map(([key, field]) => ({
    key,
    change: canonicalizer(field),
    fallback: defaultOf(field),
  }))
  return onFields(value => {
    const made: Record<string, unknown> = {}
    for (const { key, change, fallback } of fields) {
      const field = own(value, key)
      if (field !== undefined) made[key] = change(field)
      else if (fallback !== undefined) made[key] = copyOf(fallback)
    }
    return made
  })
}

function arrayChange(change: Change, mark?: Mark): Change {
  return value => {
    if (!Array.isArray(value)) return value
    const items = value.map(change)
    return mark?.set ? withoutRepetition(items) : items
  }
}

function withoutRepetition(items: readonly unknown[]): unknown[] {
  const byText = new Map(items.map(item => [JSON.stringify(item), item]))
  return [...byText].sort(([a], [b]) => byName(a, b)).map(([, item]) => item)
}

/** Sorted, since the schema names no order; a key named `__proto__` would be no data. */
const recordChange = (change: Change): Change =>
  onFields(value => {
    const made: Record<string, unknown> = {}
    for (const key of Object.keys(value).sort(byName)) if (key !== '__proto__') made[key] = change(value[key])
    return made
  })

function mapChange(schema: z.ZodUnion): Change {
  const record = schema.options.find(option => option instanceof z.ZodRecord)
  const change = record ? canonicalizer(record) : same
  return value =>
    change(
      Array.isArray(value) && value.every(name => typeof name === 'string')
        ? Object.fromEntries(value.map(name => [name, {}]))
        : value,
    )
}

function unionChange(schema: z.ZodUnion, changeOf: (option: z.core.$ZodType) => Change): Change {
  const changes = new Map(schema.options.map(option => [option, changeOf(option)]))
  if ([...changes.values()].every(change => change === same)) return same
  return value => {
    const option = fittingOption(schema.options, value)
    const change = option && changes.get(option)
    return change ? change(value) : value
  }
}

/** `kind` first, then how it is named. */
const referenceChange = onFields(value => {
  const { kind, ...named } = value
  return { ...(kind !== undefined && { kind }), ...named }
})

/** Free data: no order of keys is better than another. */
const sortedKeys: Change = value => {
  if (Array.isArray(value)) return value.map(sortedKeys)
  return recordOfSorted(value)
}

const recordOfSorted = recordChange(value => sortedKeys(value))

/** A schema may contain itself. */
function whenFirstUsed(make: () => Change): Change {
  let made: Change | undefined
  return value => {
    made ??= make()
    return made(value)
  }
}

function onFields(change: (value: Fields) => unknown): Change {
  return value =>
    typeof value === 'object' && value !== null && !Array.isArray(value) ? change(value as Fields) : value
}

const own = (value: Fields, key: string): unknown => (Object.hasOwn(value, key) ? value[key] : undefined)

/** So that nobody who changes one value changes the default. */
const copyOf = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(copyOf)
  if (typeof value !== 'object' || value === null) return value
  const copy: Record<string, unknown> = {}
  for (const key of Object.keys(value)) copy[key] = copyOf((value as Fields)[key])
  return copy
}
