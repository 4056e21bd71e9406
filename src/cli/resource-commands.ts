// Live resources by kind and name.
import { RefusedError } from '../lib/errors.ts'
import { pages } from '../lib/pages.ts'
import { didYouMean } from '../lib/suggest.ts'
import type { Kind } from '../resources/kind.ts'
import { kinds } from '../resources/kinds/all.ts'
import type { Client } from '../server/client.ts'
import { type LiveResource, listResources } from '../server/contract/resources.ts'
import type { Values } from './parameter.ts'
import { type serverOptions, withServer } from './server.ts'
import { UsageError } from './usage.ts'

export interface GetValues extends Values<typeof serverOptions> {
  readonly kind: string
  readonly name?: string
  readonly label?: readonly string[]
}

export async function getResources(values: GetValues): Promise<{ kind: Kind; resources: LiveResource[] }> {
  const kind = kindNamed(values.kind)
  const { name, label = [] } = values
  const resources = await withServer(values, client =>
    allPages(client, kind.kind, {
      ...(name !== undefined && { name: [name] }),
      ...(label.length > 0 && { label: [...label] }),
    }),
  )
  if (name !== undefined && resources.length === 0)
    throw new RefusedError('resource.unknown', `there is no ${kind.kind} "${name}"`, {
      hint: `cairn get ${kind.kind} lists them.`,
    })
  return { kind, resources }
}

/** In any case, and in the plural. */
function kindNamed(given: string): Kind {
  const found = kinds.find(({ kind }) => [kind, `${kind}s`].some(name => name.toLowerCase() === given.toLowerCase()))
  if (found) return found
  const names = kinds.map(({ kind }) => kind)
  throw new UsageError('choice.unknown', `"${given}" is not a kind`, {
    hint: didYouMean(given, names) ?? `One of: ${names.join(', ')}.`,
  })
}

async function allPages(
  client: Client,
  kind: string,
  filter: { name?: string[]; label?: string[] },
): Promise<LiveResource[]> {
  const found: LiveResource[] = []
  const ask = (from: { readonly cursor?: string }) =>
    client.call(listResources, { params: { kind }, query: { limit: 500, ...filter, ...from } })
  for await (const { resources } of pages(ask)) found.push(...resources)
  return found
}
