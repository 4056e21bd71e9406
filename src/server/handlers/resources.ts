// Live resources one by one, and the kinds there are.
import * as z from 'zod'
import type { Live } from '../../bundles/platform.ts'
import { WriteConflict } from '../../bundles/store.ts'
import { ProblemsError } from '../../lib/errors.ts'
import { didYouMean } from '../../lib/suggest.ts'
import { documentJsonSchema } from '../../resources/json-schema.ts'
import type { Kind, Spec } from '../../resources/kind.ts'
import { schemaProblems } from '../../resources/schema-problems.ts'
import { assertMaySee } from '../authorize.ts'
import { HttpFailure, refuse } from '../failure.ts'
import { viewLive } from '../live-view.ts'
import { createWrites, updateWrites } from '../live-write.ts'
import { defined } from './defined.ts'
import { etag, type HandlerPorts, type Handlers } from './handler.ts'

type ResourceRoutes =
  | 'listKinds'
  | 'kindSchema'
  | 'listResources'
  | 'getResource'
  | 'createResource'
  | 'putResource'
  | 'deleteResource'
  | 'putStatus'

export function resourceHandlers(ports: HandlerPorts): Pick<Handlers, ResourceRoutes> {
  const { database, kinds } = ports
  const { platform, store } = database
  const view = async (live: Live) => (await viewLive(database, kinds, [live]))[0]!

  return {
    listKinds: async () => ({
      body: {
        kinds: kinds.map(({ apiVersion, kind, family, summary, destroysData }) => ({
          apiVersion,
          kind,
          family,
          summary,
          destroysData,
        })),
      },
    }),
    kindSchema: async ({ params }) => ({ body: documentJsonSchema(kindOf(kinds, params.kind)) as never }),

    listResources: async ({ params, query }) => {
      const kind = kindOf(kinds, params.kind)
      const { name: displayNames, label: labels, limit, cursor } = query
      const { resources, next } = await platform.list(
        { kinds: [kind.kind], ...defined({ displayNames, labels }) },
        defined({ limit, cursor }),
      )
      return {
        body: { resources: await viewLive(database, kinds, resources), ...(next !== undefined && { next }) },
      }
    },
    getResource: async ({ params, who }) => {
      const live = await find(ports, params)
      assertMaySee(who, live)
      const found = present(live, params)
      return { headers: etag(found.revision), body: await view(found) }
    },
    createResource: async ({ params, body, note }) => {
      const kind = kindOf(kinds, params.kind)
      const id = ports.newId()
      const writes = await createWrites(ports, kind, id, body.spec)
      await store.transaction(tx => tx.write(writes))
      note(`${kind.kind}/${id}`, { name: String(body.spec.name) })
      const made = present(await find(ports, { kind: kind.kind, id }), { kind: kind.kind, id })
      const location = `/api/v1/resources/${kind.kind}/${id}`
      return { status: 201, headers: { location, ...etag(made.revision) }, body: await view(made) }
    },
    putResource: async ({ params, body, ifRevision, note }) => {
      const live = present(await find(ports, params), params)
      assertUnmoved(live, ifRevision)
      assertNotControlled(live)
      const writes = await updateWrites(ports, kindOf(kinds, params.kind), live, body.spec)
      if (writes.length > 0) await moved412(ifRevision, () => store.transaction(tx => tx.write(writes)))
      note(`${live.kind}/${live.id}`, { name: live.displayName, writes: writes.length })
      const now = present(await find(ports, live), params)
      return { headers: etag(now.revision), body: await view(now) }
    },
    deleteResource: async ({ params, query, ifRevision, note }) => {
      const live = present(await find(ports, params), params)
      note(`${live.kind}/${live.id}`, { name: live.displayName })
      assertUnmoved(live, ifRevision)
      assertNotControlled(live)
      await assertDeletable(ports, live, query.confirm?.includes('dataLoss') ?? false)
      const { kind, id, revision } = live
      await moved412(ifRevision, () =>
        store.transaction(tx => tx.write([{ do: 'remove', kind, id, ifRevision: revision }])),
      )
      return { status: 204, body: undefined }
    },
    putStatus: async ({ params, body, who, note }) => {
      const live = await find(ports, params)
      assertMaySee(who, live)
      const { id, kind, displayName } = present(live, params)
      note(`${kind}/${id}`, { name: displayName })
      if (!(await database.setStatus(id, statusOf(kindOf(kinds, kind), body.status)))) throw unknown(params)
      return { status: 204, body: undefined }
    },
  }
}

function kindOf(kinds: readonly Kind[], name: string): Kind {
  const found = kinds.find(({ kind }) => kind === name)
  if (found) return found
  const names = kinds.map(({ kind }) => kind)
  const hint = didYouMean(name, names) ?? 'GET /api/v1/kinds lists them.'
  throw refuse(404, { code: 'kind.unknown', path: 'path.kind', reason: 'there is no such kind', hint })
}

/** By id; else by a display name that only one has. */
async function find(
  { database: { platform }, kinds }: HandlerPorts,
  { kind: kindName, id }: { readonly kind: string; readonly id: string },
): Promise<Live | null> {
  const { kind } = kindOf(kinds, kindName)
  const read = (await platform.read([{ kind, id }])).get(id)
  if (read && 'unreadable' in read) throw new HttpFailure({ status: 503, problems: [read.unreadable] })
  if (read) return read
  const named = await platform.find([{ kind, displayName: id }])
  if (named.length > 1)
    throw refuse(409, {
      code: 'resource.ambiguous',
      path: 'path.id',
      reason: `${named.length} of this kind have that name`,
      hint: `Name one by its id: ${named.map(live => live.id).join(', ')}.`,
    })
  return named[0] ?? null
}

type Named = { readonly kind: string; readonly id: string }

const unknown = ({ kind }: Named) =>
  refuse(404, { code: 'resource.unknown', path: 'path.id', reason: `there is no such ${kind}` })

function present(live: Live | null, named: Named): Live {
  if (!live) throw unknown(named)
  return live
}

const movedAway = () =>
  refuse(412, {
    code: 'revision.moved',
    path: 'header.if-match',
    reason: 'it has another revision now',
    hint: 'Read it again.',
  })

function assertUnmoved(live: Live, ifRevision: number | undefined) {
  if (ifRevision !== undefined && live.revision !== ifRevision) throw movedAway()
}

/** Moved between looking and writing: to whoever sent a revision it is the same as before. */
async function moved412(ifRevision: number | undefined, write: () => Promise<void>) {
  try {
    await write()
  } catch (error) {
    throw ifRevision !== undefined && error instanceof WriteConflict && error.reason === 'revision'
      ? movedAway()
      : error
  }
}

function assertNotControlled({ controlledBy }: Live) {
  if (controlledBy)
    throw refuse(409, {
      code: 'resource.controlled',
      reason: `it is made and kept by ${controlledBy.kind} ${controlledBy.id}`,
      hint: 'Change that one.',
    })
}

async function assertDeletable({ database: { platform, store }, kinds }: HandlerPorts, live: Live, confirmed: boolean) {
  const [referrers, owners] = await Promise.all([platform.referrers([live.id]), store.owners([live.id])])
  const owner = owners.get(live.id)
  const recorded = owner
    ? (await store.stack(owner.stackId))?.resources.find(({ id }) => id === live.id)?.lifecycle.onRemove
    : undefined
  const problems = [
    ...(owner && recorded === 'protect'
      ? [
          {
            code: 'resource.protected' as const,
            path: `${owner.kind}/${owner.name}`,
            reason: `stack ${owner.stackName} protects it`,
          },
        ]
      : []),
    ...referrers.map(({ from }) => ({
      code: 'resource.referenced' as const,
      path: `${from.kind}/${from.id}`,
      reason: `${from.kind} "${from.displayName}" refers to it`,
    })),
  ]
  if (problems.length > 0) throw new HttpFailure({ status: 409, problems })
  if (kindOf(kinds, live.kind).destroysData && !confirmed)
    throw refuse(428, {
      code: 'confirm.missing',
      path: 'query.confirm',
      reason: `deleting ${live.kind} "${live.displayName}" loses data`,
      hint: 'Send confirm=dataLoss.',
    })
}

function statusOf(kind: Kind, status: Spec): Spec {
  if (!kind.status)
    throw new ProblemsError([{ code: 'status.unexpected', path: 'status', reason: `a ${kind.kind} has no status` }])
  const parsed = z.safeParse(kind.status, status, { reportInput: true })
  if (parsed.success) return parsed.data as Spec
  const problems = schemaProblems(kind.status, parsed.error as z.ZodError)
  throw new ProblemsError(problems.map(problem => ({ ...problem, path: `status.${problem.path}` })))
}
