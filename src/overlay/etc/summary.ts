// A plan in the words of targets: what is new, what changes, what goes, what stands in the way, each with its reason.
// A link whose text stays changes too, when its content does.
import { byName, type EtcTarget } from '../names.ts'
import type { EtcAction } from './action.ts'
import type { EtcEntry } from './entry.ts'
import type { Arrivals } from './plan-arrivals.ts'
import type { Departures } from './plan-departures.ts'
import type { Ground } from './plan-ground.ts'

export interface EtcSummary {
  readonly add: readonly EtcChange[]
  readonly change: readonly EtcChange[]
  readonly remove: readonly EtcChange[]
  readonly conflict: readonly EtcChange[]
}

export interface EtcChange {
  readonly target: EtcTarget
  readonly reason: string
  /** The package or unit that declares it, or did. */
  readonly from?: string
}

type Step = Exclude<EtcAction, { do: 'sweep' | 'switch' }>

export function summarise(ground: Ground, arrivals: Arrivals, departures: Departures): EtcSummary {
  const { wanted, owned, wantedBy, ownedBy } = ground
  const steps = new Map<EtcTarget, Step>()
  const later = [...arrivals.replacements.values(), ...arrivals.closings.values(), ...departures.actions.values()]
  for (const step of [...arrivals.before, ...arrivals.openings.values(), ...later])
    if ('target' in step) steps.set(step.target, step)

  const add: EtcChange[] = []
  const change: EtcChange[] = []
  const remove: EtcChange[] = []
  for (const entry of wanted.entries) {
    if (arrivals.conflicts.has(entry.target)) continue
    const was = ownedBy.get(entry.target)
    const step = steps.get(entry.target)
    if (!was) add.push(item(entry, step?.do === 'take-over' ? tookOver(step.backup.what) : 'new'))
    else {
      const reason = [...differences(was, entry), ...repairs(step)].join(', ')
      if (reason) change.push(item(entry, reason))
    }
  }
  for (const entry of owned.entries)
    if (!wantedBy.has(entry.target))
      remove.push(item(entry, departure(steps.get(entry.target), departures.left.has(entry.target))))
  for (const step of departures.actions.values())
    if (step.do === 'remove' && step.why === 'stray')
      remove.push({ target: step.target, reason: 'left over from an earlier generation' })

  const conflict = [...arrivals.conflicts].map(([target, { reason }]) => item(wantedBy.get(target)!, reason))
  return { add, change, remove: remove.sort((a, b) => byName(a.target, b.target)), conflict }
}

const item = ({ target, from }: EtcEntry, reason: string): EtcChange => ({ target, reason, from })

const tookOver = (what: string) => `takes over the ${what} that is there and keeps a backup`

function differences(was: EtcEntry, entry: EtcEntry): string[] {
  if (was.kind !== entry.kind) return [`was a ${kindName[was.kind]}, becomes a ${kindName[entry.kind]}`]
  const changed: string[] = []
  if (was.kind === 'direct' && entry.kind === 'direct' && was.text !== entry.text)
    changed.push(`leads to ${JSON.stringify(entry.text)} instead of ${JSON.stringify(was.text)}`)
  if (was.kind !== 'direct' && entry.kind !== 'direct' && was.sha256 !== entry.sha256 && !countsByName(entry))
    changed.push('content changed')
  if (was.kind === 'copy' && entry.kind === 'copy') {
    if (was.mode !== entry.mode) changed.push(`mode ${octal(was.mode)} → ${octal(entry.mode)}`)
    if (was.owner !== entry.owner) changed.push(`owner ${was.owner ?? 'default'} → ${entry.owner ?? 'default'}`)
    if (was.group !== entry.group) changed.push(`group ${was.group ?? 'default'} → ${entry.group ?? 'default'}`)
  }
  return changed
}

/** systemd looks at the name of such a link only; what changed is said of the unit itself. */
const countsByName = ({ target }: EtcEntry) => /^systemd\/system\/[^/]+\.(wants|requires|upholds)\//.test(target)

const kindName = { link: 'link', copy: 'copy', direct: 'direct link' } as const

/** What the step does beyond the difference between the generations. */
function repairs(step: Step | undefined): string[] {
  if (step?.do === 'add' && step.why === 'went missing') return ['went missing']
  if (step?.do === 'take-over') return [tookOver(step.backup.what)]
  if (step?.do === 'replace' && step.over) return ['was edited or replaced by hand, is put right']
  return []
}

function departure(step: Step | undefined, isLeft: boolean): string {
  if (isLeft) return 'no longer declared, but changed by hand: left in place'
  if (step?.do === 'give-back') return `no longer declared; the ${step.backup.what} that was there comes back`
  return 'no longer declared'
}

const octal = (mode: number) => mode.toString(8).padStart(4, '0')
