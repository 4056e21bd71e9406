// The one line that says why, for people. It says no more than the plan knows.
import type { Kind } from '../../resources/kind.ts'
import type { Action, Change } from '../model/plan.ts'
import type { PlanView } from './view.ts'

export function deleteReason({ mode, sources }: Pick<PlanView, 'mode' | 'sources'>, kind: Kind): string {
  const [source, ...more] = sources
  const holder = source !== undefined && more.length === 0 ? fileOf(source) : 'the bundle'
  const because = mode.do === 'uninstall' ? 'the stack is uninstalled' : `${holder} no longer has it`
  return kind.destroysData ? `data will be lost; ${because}` : because
}

export const createReason = (file: string | undefined): string =>
  file === undefined ? 'new in the bundle' : `new in ${fileOf(file)}`

export function replaceReason(changes: readonly Change[], kind: Kind): string {
  const forcing = changes.filter(({ forcesReplacement }) => forcesReplacement)
  const because = `${pathsOf(forcing)} cannot be changed in place`
  return kind.destroysData ? `data will be lost; ${because}` : because
}

/** By what the changes say; `why` of the action comes with it. */
export function updateReason(changes: readonly Change[]): Pick<Action, 'why' | 'reason'> {
  const whys = new Set(changes.map(({ why }) => why))
  const fromBundle = whys.has('bundle') || whys.has('default')
  if (whys.has('both') || (fromBundle && whys.has('drift'))) {
    const outside = changes.filter(({ why }) => why === 'both' || why === 'drift')
    return { why: 'changed in both', reason: `${pathsOf(outside)} changed outside as well` }
  }
  if (fromBundle) return { why: 'changed in the bundle', reason: `${pathsOf(changes)} changed in the bundle` }
  if (whys.has('drift')) {
    const drifted = changes.filter(({ why }) => why === 'drift')
    return { why: 'drifted', reason: `${pathsOf(drifted)} changed outside and goes back` }
  }
  return { why: 'a secret changed', reason: 'a secret that it uses has a new value' }
}

const mostPaths = 2

const pathsOf = (changes: readonly Change[]): string => {
  const shown = changes.slice(0, mostPaths).map(({ path }) => path)
  return changes.length > mostPaths ? `${shown.join(', ')} and ${changes.length - mostPaths} more` : shown.join(', ')
}

const fileOf = (source: string): string => source.slice(source.lastIndexOf('/') + 1) || source
