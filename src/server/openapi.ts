// The API as OpenAPI 3.1, made from the contract and the kinds. Shapes that many routes share are components.
import type * as z from 'zod'
import { planSchema } from '../bundles/model/plan.ts'
import { problemSchema, summarySchema } from '../bundles/model/summary.ts'
import type { Json } from '../lib/json.ts'
import type { Kind } from '../resources/kind.ts'
import { answerTypesOf } from './answer-types.ts'
import { routes } from './contract/all.ts'
import { outcomeSchema } from './contract/bundles.ts'
import { errorSchema, type Route } from './contract/route.ts'
import { type JsonSchema, kindSchema, type SchemaOf, schemaWriter } from './openapi-schemas.ts'

export interface OpenApi {
  readonly openapi: '3.1.0'
  readonly info: { readonly title: string; readonly version: string; readonly description: string }
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>>; readonly securitySchemes: Json }
}

export interface Operation {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly summary: string
  readonly description?: string
  readonly security: readonly Readonly<Record<string, readonly string[]>>[]
  readonly 'x-roles': readonly string[]
  readonly parameters: readonly Parameter[]
  readonly requestBody?: { readonly required: boolean; readonly content: Content }
  readonly responses: Readonly<Record<string, Response>>
}

export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required: boolean
  readonly schema: JsonSchema
  readonly description?: string
}

interface Response {
  readonly description: string
  readonly headers?: Json
  readonly content?: Content
}

type Content = Readonly<Record<string, { readonly schema: JsonSchema; readonly example?: Json }>>

export function openApiDocument(kinds: readonly Kind[]): OpenApi {
  const schemas: Record<string, JsonSchema> = {
    Json: { description: 'Any JSON value.' },
    Document: {
      description: 'A resource as a bundle has it.',
      oneOf: kinds.map(({ kind }) => ({ $ref: `#/components/schemas/${kind}` })),
    },
  }
  for (const kind of kinds) schemas[kind.kind] = kindSchema(kind)
  const schemaOf = schemaWriter(schemas)
  schemaOf(errorSchema, 'output')
  // Open, as problem+json is: some errors carry more, such as the plan of a bundle that was refused.
  schemas.Error = { ...schemas.Error, additionalProperties: true }
  schemas.BundleError = {
    description: 'Of a bundle that was refused: with summary and plan of all that could be understood.',
    allOf: [{ $ref: '#/components/schemas/Error' }],
    properties: {
      summary: schemaOf(summarySchema, 'output'),
      plan: schemaOf(planSchema, 'output'),
      warnings: { type: 'array', items: schemaOf(problemSchema, 'output') },
      outcome: schemaOf(outcomeSchema, 'output'),
    },
  }

  const paths: Record<string, Record<string, Operation>> = {}
  for (const [name, route] of Object.entries(routes) as [string, Route][])
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operationOf(name, route, schemaOf) }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Cairn',
      version: 'v1',
      description:
        'Declares a fleet and keeps it so. Bundles are planned and applied as a whole; stacks are the record of what they made.',
    },
    tags: [
      { name: 'Bundles', description: 'Validate, plan, apply, export.' },
      { name: 'Stacks', description: 'The record of what bundles made.' },
      { name: 'Resources', description: 'Live resources, one by one, and their kinds.' },
      { name: 'Access', description: 'Tokens, secrets, the audit log.' },
      { name: 'Service', description: 'Events, health, metrics, this description.' },
    ],
    paths,
    components: {
      schemas,
      securitySchemes: { token: { type: 'http', scheme: 'bearer', description: 'cairn_<id>_<secret>' } },
    },
  }
}

const always = [400, 405, 406, 429, 500, 503]
const withToken = [401, 403]

function operationOf(name: string, route: Route, schemaOf: SchemaOf): Operation {
  const open = route.allow === 'anyone'
  const statuses = [...new Set([...always, ...(open ? [] : withToken), ...route.errors])].sort((a, b) => a - b)
  const isOfBundle = name === 'planBundle' || name === 'applyBundle'
  const responses: Record<string, Response> = {}
  for (const status of route.statuses) responses[status] = answered(route, status, schemaOf)
  for (const status of statuses)
    responses[status] = {
      description: meanings[status] ?? 'Refused.',
      content: {
        'application/problem+json': {
          schema: {
            $ref: `#/components/schemas/${isOfBundle && [409, 422, 428, 500, 502].includes(status) ? 'BundleError' : 'Error'}`,
          },
        },
      },
    }
  return {
    operationId: name,
    tags: [route.tag],
    summary: route.summary,
    ...(route.description !== undefined && { description: route.description }),
    security: open ? [] : [{ token: [] }],
    'x-roles': route.allow === 'anyone' ? [] : route.allow,
    parameters: parametersOf(route, schemaOf),
    ...(route.body && { requestBody: bodyOf(route, route.body, schemaOf) }),
    responses,
  }
}

function answered(route: Route, status: number, schemaOf: SchemaOf): Response {
  const description = status === 201 ? 'Made.' : status === 204 ? 'Done.' : 'The answer.'
  const headers = status === 201 ? { headers: { Location: { schema: { type: 'string' } } } } : {}
  if (status === 204) return { description }
  const schema = schemaOf(route.answer, 'output')
  const content = Object.fromEntries(
    answerTypesOf(route).map(type => [type, { schema: type === 'application/json' ? schema : { type: 'string' } }]),
  )
  return { description, ...headers, content }
}

function bodyOf(route: Route, body: z.ZodType, schemaOf: SchemaOf): NonNullable<Operation['requestBody']> {
  const bundle: JsonSchema = { type: 'array', items: { $ref: '#/components/schemas/Document' } }
  const schema = schemaOf(body, 'input')
  return {
    required: !body.safeParse({}).success,
    content: {
      'application/json': {
        schema: route.bodyTypes ? { anyOf: [schema, bundle] } : schema,
        ...(route.bodyTypes && { example: { sources: [{ name: 'edge.yaml', content: bundleExample }] } }),
      },
      ...Object.fromEntries(
        (route.bodyTypes ?? []).map(type => [type, { schema: { type: 'string' }, example: bundleExample }]),
      ),
    },
  }
}

const bundleExample = 'kind: Label\nmetadata:\n  name: edge\nspec:\n  color: "#2f6f4f"\n'

function parametersOf(route: Route, schemaOf: SchemaOf): Parameter[] {
  return [
    ...fieldsOf(route.params, 'path', schemaOf),
    ...fieldsOf(route.query, 'query', schemaOf),
    ...(route.ifMatch
      ? [
          {
            name: 'If-Match',
            in: 'header' as const,
            required: false,
            schema: { type: 'string', pattern: '^("[0-9]{1,15}"|[0-9]{1,15}|\\*)$' },
            description: 'The revision that the change rests on; another one now is 412.',
          },
        ]
      : []),
    ...(route.answerTypes?.includes('text/event-stream')
      ? [
          {
            name: 'Last-Event-ID',
            in: 'header' as const,
            required: false,
            schema: { type: 'string', pattern: '^[0-9]{1,15}$' },
            description: 'Goes before `since`.',
          },
        ]
      : []),
  ]
}

function fieldsOf(parameters: z.ZodObject, place: 'path' | 'query', schemaOf: SchemaOf): Parameter[] {
  return Object.entries(parameters.shape as Record<string, z.ZodType>).map(([name, field]) => {
    const { description, ...schema } = schemaOf(field, 'output')
    return {
      name,
      in: place,
      required: place === 'path',
      schema,
      ...(typeof description === 'string' && { description }),
    }
  })
}

const meanings: Readonly<Record<number, string>> = {
  400: 'The request cannot be read, or has an unknown key.',
  401: 'No token, or one that does not count.',
  403: 'Not for the role of this token.',
  404: 'There is no such thing.',
  405: 'Not with this method.',
  406: 'Not in a type that the caller takes.',
  409: 'Not as things are now: stale, locked, owned, taken, referred to, protected.',
  412: 'If-Match names another revision.',
  413: 'Too large.',
  415: 'A body of another type.',
  422: 'Read, but not right: every problem is in the list.',
  428: 'A confirmation is missing; the problem says which.',
  429: 'Too much at once; Retry-After says when.',
  500: 'Failed; what was begun is undone, and `outcome` says so.',
  502: 'Another platform failed; what was begun is undone.',
  503: 'Not now; Retry-After says when.',
}
