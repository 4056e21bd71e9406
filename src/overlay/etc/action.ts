// The steps that change /etc, as data: journaled as JSON, carried out by perform.ts, turned round by inverseOf.
// Holds in every plan: one action for one path. So each step can tell from that path alone whether it was done, and
// steps may be repeated, or undone when only some of them reached the disk.
import { unreachable } from '../../lib/errors.ts'
import type { EtcTarget, StateName } from '../names.ts'
import type { Backup } from './entry.ts'
import type { Found, Made } from './made.ts'

export type EtcAction =
  /** Litter of an apply that was killed; a path below /etc. */
  | { readonly do: 'sweep'; readonly path: string }
  /** Moves what was found into etc/backup, and puts ours in its place. */
  | { readonly do: 'take-over'; readonly target: EtcTarget; readonly backup: Backup; readonly put: Made }
  | { readonly do: 'add'; readonly target: EtcTarget; readonly put: Made; readonly why: 'new' | 'went missing' }
  | SwitchAction
  | {
      readonly do: 'replace'
      readonly target: EtcTarget
      readonly was: Made
      readonly put: Made
      /** What someone made of it meanwhile, when that may be overwritten. */
      readonly over?: Found
    }
  /** A directory is removed only when it is empty. */
  | {
      readonly do: 'remove'
      readonly target: EtcTarget
      readonly was: Made
      readonly why: 'no longer wanted' | 'stray'
    }
  /** Puts a backup in the place of ours. */
  | { readonly do: 'give-back'; readonly target: EtcTarget; readonly backup: Backup; readonly was: Made }

/** The commit point: one rename of etc/static. Null: there is none. */
export interface SwitchAction {
  readonly do: 'switch'
  readonly from: StateName | null
  readonly to: StateName | null
}

/** The action that takes this one back; null when there is nothing to take back. */
export function inverseOf(action: EtcAction): EtcAction | null {
  switch (action.do) {
    case 'sweep':
      return null
    case 'take-over':
      return { do: 'give-back', target: action.target, backup: action.backup, was: action.put }
    case 'give-back':
      return { do: 'take-over', target: action.target, backup: action.backup, put: action.was }
    case 'add':
      return { do: 'remove', target: action.target, was: action.put, why: 'no longer wanted' }
    case 'remove':
      return { do: 'add', target: action.target, put: action.was, why: 'went missing' }
    case 'replace':
      return { do: 'replace', target: action.target, was: action.put, put: action.was }
    case 'switch':
      return { do: 'switch', from: action.to, to: action.from }
    default:
      return unreachable(action)
  }
}
