// Takes actions back, last first, whichever of them were done: all, some or none. What can be taken back is, even if
// something else cannot.
import { CairnError, messageOf } from '../../lib/errors.ts'
import { etcPath } from '../layout.ts'
import { type EtcAction, inverseOf } from './action.ts'
import { isFound } from './look.ts'
import { closeSite, type EtcContext, openSite, perform, type Site } from './perform.ts'
import { sweepLitter } from './scan.ts'

export function undoEtc(actions: readonly EtcAction[], context: EtcContext) {
  const site = openSite(context)
  const failures: unknown[] = []
  const attempt = (step: () => void) => {
    try {
      step()
    } catch (error) {
      failures.push(error)
    }
  }
  attempt(() => sweepLitter(context.files, context.layout))
  for (const action of actions.toReversed()) attempt(() => takeBack(site, action))
  attempt(() => closeSite(site))
  if (failures.length > 0)
    throw new CairnError('etc.undo-incomplete', `/etc is not all as it was: ${failures.map(messageOf).join('; ')}`, {
      hint: 'Put right what is named, then run the command again: it goes on from here.',
      cause: failures[0],
    })
}

/** What someone else changed meanwhile is theirs and stays. Only a backup that cannot be given back is a failure. */
function takeBack(site: Site, action: EtcAction) {
  const inverse = inverseOf(action)
  if (!inverse || isStillDrifted(site, action)) return
  try {
    perform(site, inverse)
  } catch (error) {
    const isTheirs = error instanceof CairnError && error.code === 'etc.changed-underfoot'
    if (!isTheirs || inverse.do === 'give-back') throw error
  }
}

/** The edit that was to be overwritten still stands. */
function isStillDrifted({ files, layout }: Site, action: EtcAction): boolean {
  return action.do === 'replace' && !!action.over && isFound(files, etcPath(layout, action.target), action.over)
}
