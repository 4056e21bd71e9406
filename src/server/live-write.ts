// One live resource written by hand: the same checks as a bundle of just this one, then the writes that bring it there.
// What it refers to is named as `external`, since there is no bundle around it.
import { isDeepStrictEqual } from 'node:util'
import type { BundleResource, Target } from '../bundles/model/bundle.ts'
import type { Live, LiveId, WholeResource, Write } from '../bundles/platform.ts'
import { understand } from '../bundles/validate/understand.ts'
import { ProblemsError } from '../lib/errors.ts'
import type { Json } from '../lib/json.ts'
import type { Problem } from '../lib/problem.ts'
import { markedFields } from '../resources/fields.ts'
import type { Kind, Spec } from '../resources/kind.ts'
import type { HandlerPorts } from './handlers/handler.ts'
import { replacedAt } from './replaced-at.ts'

type Ports = Pick<HandlerPorts, 'database' | 'kinds' | 'limits'>

/** Stands for metadata.name, which a live resource does not have. */
const placeholder = 'resource'

interface Wanted {
  readonly whole: Omit<WholeResource, 'id'>
  readonly associations: readonly LiveId[]
}

export async function createWrites(ports: Ports, kind: Kind, id: string, spec: Spec): Promise<readonly Write[]> {
  const { whole, associations } = await wantedOf(ports, kind, spec)
  const from = { kind: kind.kind, id }
  return [{ do: 'create', ...whole, id }, ...associations.map(to => ({ do: 'associate' as const, from, to }))]
}

/** None when it is like that already. */
export async function updateWrites(ports: Ports, kind: Kind, live: Live, spec: Spec): Promise<readonly Write[]> {
  const { whole, associations } = await wantedOf(ports, kind, spec)
  assertImmutableStays(kind, live.spec, whole.spec)
  const from = { kind: kind.kind, id: live.id }
  const had = new Set(live.associations.map(({ id }) => id))
  const has = new Set(associations.map(({ id }) => id))
  const isSame = live.displayName === whole.displayName && isDeepStrictEqual(live.spec, whole.spec)
  return [
    ...(isSame ? [] : [{ do: 'update' as const, ...whole, id: live.id, ifRevision: live.revision }]),
    ...live.associations.filter(({ id }) => !has.has(id)).map(to => ({ do: 'dissociate' as const, from, to })),
    ...associations.filter(({ id }) => !had.has(id)).map(to => ({ do: 'associate' as const, from, to })),
  ]
}

async function wantedOf(ports: Ports, kind: Kind, spec: Spec): Promise<Wanted> {
  const { resource, problems } = understoodAlone(ports, kind, spec)
  if (!resource) throw new ProblemsError(problems)
  const { database } = ports
  const stored = await database.platform.secrets.fingerprints(resource.secretKeys)
  for (const key of resource.secretKeys)
    if (!stored.has(key))
      problems.push({
        code: 'secret.missing',
        path: 'spec',
        reason: `there is no secret "${key}"`,
        hint: `Set it first: cairn secret set ${key}.`,
      })
  const resolve = await resolver(ports, resource, problems)
  const refersTo: LiveId[] = []
  let written = resource.spec
  for (const { path, mark, value } of markedFields(kind.spec, resource.spec)) {
    if (!mark.reference || typeof value !== 'object' || value === null || !('external' in value)) continue
    const { kind: said, external } = value as { kind?: string; external: string }
    const to = resolve({ kind: said ?? mark.reference[0]!, external })
    if (to) written = replacedAt(written, path, { ...(said !== undefined && { kind: said }), id: to.id } as Json)
  }
  for (const { target, byDisplayName, optional, path } of resource.references) {
    const to = resolve(byDisplayName ? { kind: target.kind, external: nameOf(target) } : target)
    if (to) refersTo.push(to)
    else if (!optional) problems.push(missing(target, path))
  }
  const associations = resource.associations.flatMap((target, index) => {
    const to = resolve(target)
    if (!to) problems.push(missing(target, `spec.associations[${index}]`))
    return to ?? []
  })
  if (problems.length > 0) throw new ProblemsError(problems)
  const { apiVersion, displayName } = resource
  return { whole: { kind: kind.kind, apiVersion, displayName, spec: written, refersTo }, associations }
}

function understoodAlone({ kinds, limits }: Ports, kind: Kind, spec: Spec) {
  const value = { apiVersion: kind.apiVersion, kind: kind.kind, metadata: { name: placeholder }, spec }
  const document = { value, index: 0, file: 'body', locate: () => undefined }
  const { bundle, ...understood } = understand(
    { documents: [document], problems: [], warnings: [] },
    { kinds, env: {}, options: {}, limits },
  )
  const problems = understood.problems.map(({ source: _, ...problem }) => ({
    ...problem,
    path: problem.path.replace(`${kind.kind}/${placeholder}.`, ''),
  }))
  if (typeof spec.name !== 'string' || spec.name === '')
    problems.push({ code: 'value.missing', path: 'spec.name', reason: 'a resource outside a bundle needs a name' })
  for (const key of understood.missingEnvRefs)
    problems.push({ code: 'env.missing', path: 'spec', reason: `there is no value for "${key}" here` })
  return { resource: problems.length > 0 ? undefined : bundle.resources[0], problems }
}

/** Looks all targets up at once. */
async function resolver({ database }: Ports, resource: BundleResource, problems: Problem[]) {
  const targets = [...resource.references.map(({ target }) => target), ...resource.associations]
  const found = await database.platform.find(
    targets.map(target => ({ kind: target.kind, displayName: nameOf(target) })),
  )
  const byAddress = new Map<string, Live[]>()
  for (const live of found) {
    const address = `${live.kind}/${live.displayName}`
    byAddress.set(address, [...(byAddress.get(address) ?? []), live])
  }
  return (target: Target): LiveId | null => {
    if (target.external === undefined) return null
    const [live, ...more] = byAddress.get(`${target.kind}/${target.external}`) ?? []
    if (more.length > 0)
      problems.push({
        code: 'reference.external',
        path: 'spec',
        reason: `${more.length + 1} live resources are called ${target.kind} "${target.external}"`,
      })
    return live ? { kind: live.kind, id: live.id } : null
  }
}

const nameOf = ({ name, external }: Target): string => external ?? name ?? ''

const missing = (target: Target, path: string): Problem => ({
  code: 'reference.external',
  path,
  reason: `there is no live ${target.kind} "${nameOf(target)}"`,
  hint: 'Outside a bundle others are named as {external: <display name>}.',
})

function assertImmutableStays(kind: Kind, before: Spec, after: Spec) {
  const values = (spec: Spec) =>
    new Map(
      [...markedFields(kind.spec, spec)]
        .filter(({ mark }) => mark.immutable)
        .map(({ path, value }) => [path.join('.'), value]),
    )
  const [was, is] = [values(before), values(after)]
  const changed = [...new Set([...was.keys(), ...is.keys()])].filter(
    path => !isDeepStrictEqual(was.get(path), is.get(path)),
  )
  if (changed.length > 0)
    throw new ProblemsError(
      changed.map(path => ({
        code: 'value.immutable',
        path: `spec.${path}`,
        reason: 'it cannot be changed once the resource is there',
        hint: 'Delete the resource and make it anew, or let a bundle replace it.',
      })),
    )
}
