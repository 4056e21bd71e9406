// Who may do what: one model for all routes. The route says which roles may call it; a machine, beyond that, sees and
// reports itself only.
import type { Route } from './contract/route.ts'
import { refuse } from './failure.ts'
import type { FeedEvent, Token } from './ports.ts'

/** Throws 403. */
export function assertMayCall(route: Route, who: Token) {
  if (route.allow !== 'anyone' && !route.allow.includes(who.role)) throw notAllowed(who, route.summary)
}

/** Supplied secrets are compared with those that are kept, and a saved plan is kept: neither is only reading. */
export function assertMayPlan(who: Token, plan: { readonly saves: boolean; readonly hasSecrets: boolean }) {
  if (who.role === 'viewer' && (plan.saves || plan.hasSecrets))
    throw notAllowed(who, plan.saves ? 'Saving a plan' : 'A plan with values of secrets')
}

/** The same answer whether there is such a resource or not, so that nothing can be learned from it. */
export function assertMaySee(who: Token, resource: { readonly kind: string; readonly displayName: string } | null) {
  if (who.role !== 'machine') return
  if (!resource || !isItself(who, resource.kind, resource.displayName)) throw notAllowed(who, 'This resource')
}

export const maySeeEvent = (who: Token, event: FeedEvent): boolean =>
  who.role !== 'machine' || isItself(who, event.kind, event.name)

const isItself = (who: Token, kind: string, displayName: string): boolean =>
  kind === 'Machine' && displayName === who.machine

const notAllowed = (who: Token, what: string) =>
  refuse(403, {
    code: 'auth.not-allowed',
    reason: `${what}: not for the role ${who.role}`,
    hint: 'Use a token of a role that may; an admin makes one with cairn token create --role.',
  })
