// How /etc differs from what the current generation put there. Says, does nothing.
import type { EtcTarget } from '../names.ts'
import type { EtcEntry, OwnedEtc } from './entry.ts'
import type { Aspect, Live, LiveEtc } from './live.ts'
import { whatStands } from './problems.ts'

export interface Drift {
  /** Null: the link etc/static itself, through which all links lead. */
  readonly target: EtcTarget | null
  readonly what: 'missing' | 'replaced' | 'edited' | 'wrong-mode' | 'wrong-owner'
  readonly reason: string
}

/** `live` was read with the owned entries as the wanted ones. */
export function driftOf(live: LiveEtc, owned: OwnedEtc): Drift[] {
  return [
    ...staticDrift(live, owned),
    ...owned.entries.flatMap(entry => driftAt(entry, live.targets.get(entry.target)!, live.readAt)),
  ]
}

function staticDrift(live: LiveEtc, { etcState }: OwnedEtc): Drift[] {
  if (live.static === etcState) return []
  if (live.static === null) return [{ target: null, what: 'missing', reason: 'etc/static is missing' }]
  return [{ target: null, what: 'replaced', reason: `etc/static leads to ${live.static}` }]
}

const whatOf: { [A in Aspect]: Drift['what'] } = { content: 'edited', mode: 'wrong-mode', owner: 'wrong-owner' }

function driftAt(entry: EtcEntry, live: Live, now: Date): Drift[] {
  const { target } = entry
  switch (live.is) {
    case 'absent':
      return [{ target, what: 'missing', reason: `/etc/${target} is missing` }]
    case 'edited':
      return live.changed.map(aspect => ({
        target,
        what: whatOf[aspect],
        reason: `the ${aspect} of /etc/${target} was changed`,
      }))
    case 'ours':
      return live.made.kind === entry.kind ? [] : [replaced(target, live, now)]
    default:
      return [replaced(target, live, now)]
  }
}

const replaced = (target: EtcTarget, live: Live, now: Date): Drift => ({
  target,
  what: 'replaced',
  reason: `/etc/${target} was replaced (${whatStands(live, now)})`,
})
