// Does what a plan says, in its order. Every action may be repeated; the directories are synced once, at the end.
// An error leaves the rest undone: before the switch the caller undoes, after it the caller tries again or goes back.
import type { EtcAction } from './action.ts'
import { closeSite, type EtcContext, openSite, perform } from './perform.ts'

export function applyEtc(actions: readonly EtcAction[], context: EtcContext) {
  const site = openSite(context)
  for (const action of actions) perform(site, action)
  closeSite(site)
}
