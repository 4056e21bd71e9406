// One live resource written by hand: the same checks as a bundle of just this one, then the writes that bring it there.
// What it refers to is named as `external`, since there is no bundle around it.
import type { BundleResource, Target } from '../bundles/model/bundle.ts'
import { respell, spelt, targetsOf } from '../bundles/plan/live-terms.ts'
import { nameKey } from '../bundles/plan/view.ts'
import type { Live, LiveId, WholeResource, Write } from '../bundles/platform.ts'
import { understand } from '../bundles/validate/understand.ts'
import { ProblemsError } from '../lib/errors.ts'
import { isEqual, type Json } from '../lib/json.ts'
import { deepPath } from '../lib/located-json.ts'
import type { Problem } from '../lib/problem.ts'
import { markedFields } from '../resources/fields.ts'
import type { Kind, Spec } from '../resources/kind.ts'
import type { HandlerPorts } from './handlers/handler.ts'

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
  const isSame = live.displayName === whole.displayName && isEqual(live.spec, whole.spec)
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
  const liveAt = await targetsIn(ports, resource)
  const resolved = (target: Target, path: string, optional = false): LiveId[] => {
    const among = liveAt(target)
    if (among.length > 1 || (among.length === 0 && !optional)) problems.push(unresolved(target, path, among))
    return among.slice(0, 1).map(({ kind, id }) => ({ kind, id }))
  }
  const refersTo = resource.references.flatMap(({ target, byDisplayName, optional, path }) =>
    resolved(byDisplayName ? { kind: target.kind, external: nameOf(target) } : target, path, optional),
  )
  const associations = resource.associations.flatMap((target, index) => resolved(target, `spec.associations[${index}]`))
  if (problems.length > 0) throw new ProblemsError(problems)
  const { apiVersion, displayName } = resource
  const written = respell(kind, resource.spec, (reference, kinds) => {
    const [to] = targetsOf(reference, kinds).flatMap(liveAt)
    return to ? spelt(to.kind, kinds, { id: to.id }) : reference
  })
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

/** Looks all targets up at once. One of a bundle has nothing behind it: there is none. */
async function targetsIn({ database }: Ports, resource: BundleResource): Promise<(target: Target) => readonly Live[]> {
  const targets = [...resource.references.map(({ target }) => target), ...resource.associations]
  const found = await database.platform.find(
    targets.map(target => ({ kind: target.kind, displayName: nameOf(target) })),
  )
  const byName = Map.groupBy(found, live => nameKey(live.kind, live.displayName))
  return ({ kind, external }) => (external === undefined ? [] : (byName.get(nameKey(kind, external)) ?? []))
}

const nameOf = ({ name, external }: Target): string => external ?? name ?? ''

const unresolved = (target: Target, path: string, among: readonly Live[]): Problem => ({
  code: 'reference.external',
  path,
  reason:
    among.length === 0
      ? `there is no live ${target.kind} "${nameOf(target)}"`
      : `${among.length} live resources are called ${target.kind} "${nameOf(target)}"`,
  hint:
    among.length === 0
      ? 'Outside a bundle others are named as {external: <display name>}.'
      : 'Give one of them another name.',
})

function assertImmutableStays(kind: Kind, before: Spec, after: Spec) {
  const values = (spec: Spec) =>
    new Map(
      markedFields(kind.spec, spec)
        .filter(({ mark }) => mark.immutable)
        .map(({ path, value }) => [deepPath('spec', path), value as Json]),
    )
  const [was, is] = [values(before), values(after)]
  const changed = [...new Set([...was.keys(), ...is.keys()])].filter(path => !isEqual(was.get(path), is.get(path)))
  if (changed.length > 0)
    throw new ProblemsError(
      changed.map(path => ({
        code: 'value.immutable',
        path,
        reason: 'it cannot be changed once the resource is there',
        hint: 'Delete the resource and make it anew, or let a bundle replace it.',
      })),
    )
}
