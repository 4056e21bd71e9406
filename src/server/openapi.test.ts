import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import type { Json } from '../lib/json.ts'
import { kinds } from '../resources/kinds/all.ts'
import { routes } from './contract/all.ts'
import type { Route } from './contract/route.ts'
import { type Operation, openApiDocument } from './openapi.ts'
import { apiPage, apiPagePolicy } from './page.ts'

const document = openApiDocument(kinds)
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
)

/** Every value in it, with its key. */
function* walk(value: Json | undefined, key = ''): Generator<{ key: string; value: Json }> {
  if (value === undefined) return
  yield { key, value }
  if (Array.isArray(value)) for (const item of value) yield* walk(item)
  else if (typeof value === 'object' && value !== null)
    for (const [name, field] of Object.entries(value)) yield* walk(field as Json, name)
}
const everything = [...walk(document as unknown as Json)]

describe('the OpenAPI document', () => {
  it('has every route of the contract, once, under its own name', () => {
    const expected = (Object.entries(routes) as [string, Route][])
      .map(([name, { method, path }]) => `${name} ${method.toLowerCase()} ${path}`)
      .sort()
    const found = operations.map(({ path, method, operation }) => `${operation.operationId} ${method} ${path}`).sort()
    expect(found).toEqual(expected)
  })

  it('points only to what it has', () => {
    const pointers = everything.flatMap(({ key, value }) => (key === '$ref' && typeof value === 'string' ? value : []))
    expect(pointers.length).toBeGreaterThan(20)
    for (const pointer of new Set(pointers)) {
      const found = pointer
        .slice(2)
        .split('/')
        .reduce<unknown>(
          (at, name) => (at as Record<string, unknown> | undefined)?.[name.replaceAll('~1', '/')],
          document,
        )
      expect(found, pointer).toBeDefined()
    }
  })

  it('declares every parameter of a path, and only those, as required', () => {
    for (const { path, operation } of operations) {
      const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
      const declared = operation.parameters.filter(parameter => parameter.in === 'path')
      expect(declared.map(({ name }) => name).sort()).toEqual(named.sort())
      for (const { in: place, required } of operation.parameters) expect(required).toBe(place === 'path')
    }
  })

  it('wants a token exactly where the contract does, and names the errors of each route', () => {
    for (const { operation } of operations) {
      const route: Route = routes[operation.operationId as keyof typeof routes]
      expect(operation.security).toEqual(route.allow === 'anyone' ? [] : [{ token: [] }])
      const statuses = Object.keys(operation.responses).map(Number)
      expect(statuses).toEqual(expect.arrayContaining([...route.statuses, ...route.errors, 400, 500]))
      expect(statuses.includes(401)).toBe(route.allow !== 'anyone')
    }
  })

  it('has a schema for every kind, and shares what routes have in common', () => {
    const names = Object.keys(document.components.schemas)
    expect(names).toEqual(
      expect.arrayContaining([...kinds.map(({ kind }) => kind), 'Problem', 'Plan', 'Stack', 'Error']),
    )
    expect(names.filter(name => name.startsWith('__'))).toEqual([])
    expect(Object.keys(document.components.schemas.Plan?.properties ?? {})).toContain('actions')
  })

  it('is plain JSON: what is sent is what is here', () => {
    expect(JSON.parse(JSON.stringify(document))).toEqual(document)
  })

  it('has examples that its own routes take', () => {
    const examples = operations.flatMap(({ operation }) =>
      Object.entries(operation.requestBody?.content ?? {}).flatMap(([type, { example }]) =>
        example === undefined ? [] : [{ operation, type, example }],
      ),
    )
    expect(examples.length).toBeGreaterThan(0)
    for (const { operation, type, example } of examples) expect(takes(operation, type, example)).toBe(true)
  })
})

function takes(operation: Operation, type: string, example: Json): boolean {
  const route: Route = routes[operation.operationId as keyof typeof routes]
  if (type === 'application/json') return route.body?.safeParse(example).success ?? false
  const resource = parse(String(example)) as { kind: string }
  return kinds.some(({ kind }) => kind === resource.kind)
}

describe('the page', () => {
  const page = apiPage(document)

  it('shows every route and every shape, and its links lead somewhere', () => {
    const ids = new Set([...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id))
    for (const name of Object.keys(routes)) expect(ids).toContain(name)
    for (const [, target] of page.matchAll(/href="#([^"]+)"/g)) expect(ids).toContain(target)
  })

  it('runs nothing and loads nothing', () => {
    expect(page).not.toMatch(/<script|<link|<img|style="|javascript:| on\w+=|@import|url\(/i)
    expect(apiPagePolicy).toMatch(/^default-src 'none'; style-src 'sha256-[A-Za-z0-9+/=]{44}';/)
  })
})
