// The API as a page to read: one static document from the same OpenAPI value, its own style, no script. Everything in it is
// escaped; the policy lets nothing run and nothing load.
import { createHash } from 'node:crypto'
import type { OpenApi, Operation } from './openapi.ts'
import type { JsonSchema } from './openapi-schemas.ts'
import { pageStyle } from './page-style.ts'

export const apiPagePolicy = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(pageStyle).digest('base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

interface Entry {
  readonly method: string
  readonly path: string
  readonly operation: Operation
}

export function apiPage({ info, tags, paths, components }: OpenApi): string {
  const entries: Entry[] = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({ method, path, operation })),
  )
  const under = (tag: string) => entries.filter(({ operation }) => operation.tags.includes(tag))
  const schemas = Object.entries(components.schemas)
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${text(info.title)} API</title>
<style>${pageStyle}</style>
</head>
<body>
<nav aria-label="Contents">
<p class="brand">${text(info.title)} <span>API ${text(info.version)}</span></p>
${tags
  .map(
    ({ name }) => `<h2>${text(name)}</h2>
<ul>${under(name)
      .map(
        ({ method, operation }) =>
          `<li><a href="#${text(operation.operationId)}"><b class="${method}">${method}</b>${text(operation.operationId)}</a></li>`,
      )
      .join('')}</ul>`,
  )
  .join('\n')}
<h2>Shapes</h2>
<ul>${schemas.map(([name]) => `<li><a href="#shape-${text(name)}">${text(name)}</a></li>`).join('')}</ul>
</nav>
<main>
<header>
<h1>${entries.length} routes, one contract</h1>
<p>${text(info.description)}</p>
<p>Send <code>Authorization: Bearer &lt;token&gt;</code>. Whatever is no 2xx is <code>application/problem+json</code> with a list of problems, each with a stable code, a path and, where there is one, the next step. For programs: <a href="/api/v1/openapi.json">openapi.json</a>.</p>
</header>
${tags
  .map(
    ({ name, description }) => `<section>
<h2>${text(name)}</h2>
<p>${text(description)}</p>
${under(name).map(operationPart).join('\n')}
</section>`,
  )
  .join('\n')}
<section>
<h2>Shapes</h2>
<p>What many routes take or give, and the kinds of resources.</p>
${schemas.map(([name, schema]) => shapePart(name, schema)).join('\n')}
</section>
</main>
</body>
</html>
`
}

function operationPart({ method, path, operation }: Entry): string {
  const { operationId, summary, description, parameters, requestBody, responses } = operation
  const roles = operation['x-roles']
  return `<article id="${text(operationId)}">
<h3><b class="${method}">${method}</b><code>${text(path).replace(/\{(\w+)\}/g, '<i>{$1}</i>')}</code></h3>
<p>${text(summary)}.${description === undefined ? '' : ` ${prose(description)}`}</p>
<p class="roles">${roles.length === 0 ? 'No token needed' : `For ${roles.map(role => `<span>${text(role)}</span>`).join(' ')}`}</p>
${
  parameters.length === 0
    ? ''
    : table(
        ['parameter', 'in', 'type', ''],
        parameters.map(({ name, in: place, required, schema, description = '' }) => [
          `<code>${text(name)}</code>${required ? '<em>required</em>' : ''}`,
          text(place),
          typeOf(schema),
          prose(description),
        ]),
      )
}
${
  requestBody === undefined
    ? ''
    : `<details><summary>Body <span>${Object.keys(requestBody.content).map(text).join(', ')}</span></summary>
${fields(requestBody.content['application/json']?.schema ?? {})}</details>`
}
<details><summary>Answers <span>${Object.keys(responses).join(', ')}</span></summary>
${table(
  ['status', '', 'shape'],
  Object.entries(responses).map(([status, { description, content = {} }]) => [
    `<code class="s${status[0]}">${status}</code>`,
    text(description),
    Object.entries(content)
      .map(([type, { schema }]) => `${typeOf(schema)} <small>${text(type)}</small>`)
      .join('<br>'),
  ]),
)}</details>
</article>`
}

function shapePart(name: string, schema: JsonSchema): string {
  const description = typeof schema.description === 'string' ? `<p>${prose(schema.description)}</p>` : ''
  return `<article id="shape-${text(name)}">
<h3><code>${text(name)}</code></h3>
${description}<details><summary>Fields</summary>${fields(schema)}</details>
</article>`
}

/** One level; what is deeper stands in the type, or is a shape of its own. */
function fields(schema: JsonSchema): string {
  const forms = alternatives(schema)
  if (forms.length > 1)
    return forms.map((form, index) => `<p class="form">Form ${index + 1}</p>${fields(form)}`).join('')
  const { properties, required = [] } = schema as { properties?: Record<string, JsonSchema>; required?: string[] }
  if (!properties) return `<p>${typeOf(schema)}</p>`
  return table(
    ['field', 'type', ''],
    Object.entries(properties).map(([name, field]) => [
      `<code>${text(name)}</code>${required.includes(name) ? '<em>required</em>' : ''}`,
      typeOf(field),
      [
        typeof field.description === 'string' ? prose(field.description) : '',
        field.default === undefined ? '' : `Default <code>${text(JSON.stringify(field.default))}</code>.`,
      ].join(' '),
    ]),
  )
}

const alternatives = (schema: JsonSchema): JsonSchema[] =>
  (schema.anyOf ?? schema.oneOf ?? []) as unknown as JsonSchema[]

function typeOf(schema: JsonSchema, depth = 0): string {
  if (typeof schema.$ref === 'string') {
    const name = schema.$ref.replace(/^#\/components\/schemas\//, '')
    return name.includes('/') ? 'nested' : `<a href="#shape-${text(name)}">${text(name)}</a>`
  }
  if (Array.isArray(schema.enum)) return schema.enum.map(value => `<code>${text(String(value))}</code>`).join(' | ')
  if (schema.const !== undefined) return `<code>${text(JSON.stringify(schema.const))}</code>`
  const forms = alternatives(schema)
  if (forms.length > 0)
    return depth > 2 ? 'one of several forms' : forms.map(form => typeOf(form, depth + 1)).join(' or ')
  if (schema.type === 'array') return `list of ${typeOf((schema.items ?? {}) as JsonSchema, depth + 1)}`
  if (schema.type === 'object' && schema.properties && depth < 2)
    return `{ ${Object.keys(schema.properties).map(text).join(', ')} }`
  if (schema.type === 'object') return 'object'
  if (schema.format === 'date-time') return 'time'
  return text(String(schema.type ?? 'any'))
}

const table = (heads: readonly string[], rows: readonly (readonly string[])[]): string =>
  `<div class="wide"><table><thead><tr>${heads.map(head => `<th scope="col">${head}</th>`).join('')}</tr></thead><tbody>${rows
    .map(row => `<tr>${row.map(cell => `<td>${cell}</td>`).join('')}</tr>`)
    .join('')}</tbody></table></div>`

/** Escaped, with `code` set apart. */
const prose = (written: string): string => text(written).replace(/`([^`]+)`/g, '<code>$1</code>')

const text = (raw: string): string =>
  raw.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
