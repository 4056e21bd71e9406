// Everything that can stand in the way of a plan, one function for each code.
import type { Problem } from '../../lib/problem.ts'
import type { BundleReference, Target } from '../model/bundle.ts'
import type { Live, LiveId, Unreadable } from '../platform.ts'
import type { Pair } from './pair.ts'
import { addressIn, type PlanView, type Referrer } from './view.ts'

type Subject = Pick<Pair, 'address' | 'wanted'>

const sourced = ({ wanted }: Pick<Pair, 'wanted'>): Pick<Problem, 'source'> =>
  wanted?.source ? { source: wanted.source } : {}

export const unreadable = (pair: Subject, live: Unreadable): Problem => ({
  code: 'live.unreadable',
  path: pair.address,
  reason: `cannot be read: ${live.unreadable.reason}`,
  hint: live.unreadable.hint ?? 'Nothing is planned on a guess. Try again when the platform answers.',
  ...sourced(pair),
})

export const kindIsUnknown = (
  view: Pick<PlanView, 'platformOf'>,
  entry: { kind: string; name: string; apiVersion: string },
): Problem => ({
  code: 'kind.unknown',
  path: addressIn(view, entry),
  reason: `the stack has it, but no platform here knows the kind ${entry.kind} of ${entry.apiVersion}`,
  hint: 'Configure the platform again, or forget the resource.',
})

export const resourceExists = (pair: Subject, holder: Live): Problem => ({
  code: 'resource.exists',
  path: pair.address,
  reason: `${holder.kind} "${holder.displayName}" exists already (${holder.id}) and is not in this stack`,
  hint: `Set metadata.lifecycle.adopt to byName or {id: ${holder.id}}, use it as {external: "${holder.displayName}"}, or choose another spec.name.`,
  ...sourced(pair),
})

/** The name is held by an entry of this very stack that keeps it. */
export const nameIsKept = (pair: Subject, holder: Pair, displayName: string): Problem => ({
  code: 'resource.exists',
  path: pair.address,
  reason: `${holder.address} of this stack has the name "${displayName}" and keeps it`,
  hint: `Choose another spec.name, or let ${holder.address} go first.`,
  ...sourced(pair),
})

export const resourceOwned = (
  pair: Subject,
  live: Live,
  { by, stack, sameStack }: { by: string; stack?: string; sameStack?: boolean },
): Problem => ({
  code: 'resource.owned',
  path: pair.address,
  reason: `${live.kind} "${live.displayName}" (${live.id}) belongs to ${by}${stack === undefined ? '' : ` (${stack})`}`,
  hint: sameStack
    ? 'Use metadata.movedFrom to rename an entry of a stack.'
    : stack === undefined
      ? 'Choose another spec.name.'
      : 'Forget it there, then import it here; or use it as {external}.',
  ...sourced(pair),
})

export const adoptUnknown = (pair: Subject, id: string): Problem => ({
  code: 'resource.unknown',
  path: `${pair.address}.metadata.lifecycle.adopt.id`,
  reason: `there is no such resource with the id ${id}`,
  hint: 'Look it up with cairn get, or leave adopt out to make a new one.',
  ...sourced(pair),
})

export const adoptAmbiguous = (pair: Subject, among: readonly LiveId[]): Problem => ({
  code: 'resource.ambiguous',
  path: `${pair.address}.metadata.lifecycle.adopt`,
  reason: `${among.length} resources have the name: ${idsOf(among)}`,
  hint: 'Name one: adopt: {id: …}.',
  ...sourced(pair),
})

export const adoptNeedsReplacement = (pair: Subject, path: string): Problem => ({
  code: 'resource.immutable',
  path: `${pair.address}.${path}`,
  reason: 'differs from what is live and cannot be changed in place; what is taken over is never replaced',
  hint: 'Write the value that is live, or delete the resource first.',
  ...sourced(pair),
})

export const resourceProtected = (pair: Pair, what: 'delete' | 'replace', because?: string): Problem => ({
  code: 'resource.protected',
  path: pair.address,
  reason:
    what === 'delete'
      ? 'is protected, and the plan would delete it'
      : `is protected, and the plan would replace it${because ? ` because ${because} changes` : ''}`,
  hint: 'Apply the bundle once with lifecycle.onRemove: delete or retain, or forget the resource.',
  ...sourced(pair),
})

const mostNamed = 5

export const resourceReferenced = (pair: Pair, referrers: readonly Referrer[]): Problem => {
  const named = referrers.slice(0, mostNamed).map(({ kind, displayName, id }) => `${kind} "${displayName}" (${id})`)
  const more = referrers.length - named.length
  return {
    code: 'resource.referenced',
    path: pair.address,
    reason: `would be deleted, but ${named.join(', ')}${more > 0 ? ` and ${more} more` : ''} still ${referrers.length === 1 ? 'refers' : 'refer'} to it`,
    hint: 'Change or delete what refers to it first, or keep it with lifecycle.onRemove: retain.',
    ...sourced(pair),
  }
}

export const referenceUnresolved = (
  pair: Subject,
  { path, target }: Pick<BundleReference, 'path' | 'target'>,
  among: readonly LiveId[],
): Problem => {
  const name = target.external ?? target.name ?? ''
  return {
    code: 'reference.external',
    path: `${pair.address}.${path}`,
    reason:
      among.length === 0
        ? `there is no ${target.kind} with the name "${name}"`
        : `${among.length} of kind ${target.kind} have the name "${name}": ${idsOf(among)}`,
    hint:
      among.length === 0
        ? 'It has to exist already; check the display name, or put it into the bundle.'
        : 'Give one of them another name.',
    ...sourced(pair),
  }
}

export const referenceSkipped = (pair: Subject, path: string, target: Target): Problem => ({
  code: 'reference.missing',
  path: `${pair.address}.${path}`,
  reason: `${target.kind}/${target.name ?? target.external} is skipped and not on the platform`,
  hint: 'Skip this one too, or skip neither.',
  ...sourced(pair),
})

export const nameCycle = (cycle: readonly string[]): Problem => ({
  code: 'plan.name-cycle',
  path: cycle[0] ?? '',
  reason: `each waits for a name that another has: ${[...cycle, cycle[0]].join(' → ')}`,
  hint: 'Apply twice: first with a name that is free for one of them, then with the final one.',
})

export const notInStack = (view: Pick<PlanView, 'platformOf'>, selector: { kind: string; name?: string }): Problem => ({
  code: 'resource.unknown',
  path: selector.name === undefined ? selector.kind : addressIn(view, { kind: selector.kind, name: selector.name }),
  reason: selector.name === undefined ? 'the stack has none of this kind' : 'the stack has no such resource',
  hint: 'cairn stacks show lists what it has.',
})

export const importUnknown = (wish: { kind: string; id?: string; displayName?: string }): Problem => ({
  code: 'resource.unknown',
  path: `${wish.kind}/${wish.id ?? wish.displayName ?? ''}`,
  reason: wish.id === undefined ? `no ${wish.kind} has this display name` : `no ${wish.kind} has this id`,
  hint: `cairn get ${wish.kind} lists them.`,
})

export const importAmbiguous = (wish: { kind: string; displayName?: string }, among: readonly LiveId[]): Problem => ({
  code: 'resource.ambiguous',
  path: `${wish.kind}/${wish.displayName ?? ''}`,
  reason: `${among.length} resources have the name: ${idsOf(among)}`,
  hint: 'Name one by its id.',
})

export const importNameTaken = (address: string): Problem => ({
  code: 'name.duplicate',
  path: address,
  reason: 'the stack has a resource of this name already',
  hint: 'Import it under another name.',
})

const idsOf = (among: readonly LiveId[]): string => among.map(({ id }) => id).join(', ')
