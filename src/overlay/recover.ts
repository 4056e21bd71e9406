// What whoever starts next does about journals that are open: finish, undo, or leave a window that is still running.
// Before the flip: undo. After it: forward, and back after two attempts that did not get through.
import type { NodeContext } from './context.ts'
import { sweepLitter } from './etc/scan.ts'
import { isExpired } from './hold.ts'
import { closeJournal, type OpenJournal, putAside, readJournals, writeProgress } from './journal.ts'
import { mendManifest } from './mend-manifest.ts'
import { reconcile } from './reconcile.ts'
import { sweepStore } from './sweep.ts'
import { goBack, goForward, hasSwitched, type SwitchOutcome, turnBack, undo } from './switch.ts'

export interface Recovery {
  /** A sentence for each thing that was found and mended. */
  readonly notes: readonly string[]
  /** False when something could not be brought to an end; its journal is still open. */
  readonly whole: boolean
  /** The window that is still running, if one is. */
  readonly held: OpenJournal | null
}

const attemptsForward = 2

export async function recover(context: NodeContext): Promise<Recovery> {
  const { files, layout } = context
  sweepStore(files, layout)
  const notes = mendManifest(context)
  const { open, unreadable } = readJournals(files, layout)
  if (unreadable.length > 0) {
    notes.push(...(await reconcile(context)))
    notes.push(...unreadable.map(journal => putAside(files, layout, journal)))
  }

  let whole = true
  for (const entry of [...open.filter(isWorking), ...open.filter(entry => !isWorking(entry))]) {
    if (!stillOpen(context, entry)) continue
    const mended = await mend(context, entry)
    if (!mended) continue
    notes.push(mended.note)
    whole &&= mended.outcome !== 'stuck'
  }
  const held = readJournals(files, layout).open.find(entry => !isWorking(entry)) ?? null
  return { notes, whole, held }
}

const isWorking = ({ progress }: OpenJournal) => progress?.phase !== 'held'

/** A working journal may have ended the held one that it replaces. */
const stillOpen = ({ files, layout }: NodeContext, { journal }: OpenJournal) =>
  readJournals(files, layout).open.some(entry => entry.journal.id === journal.id)

async function mend(
  context: NodeContext,
  { journal, progress }: OpenJournal,
): Promise<{ note: string; outcome: SwitchOutcome['outcome'] } | null> {
  const { files, layout, clock } = context
  const what = `${journal.intent} ${journal.id.slice(0, 8)}`
  const interrupted = [{ name: journal.intent, reason: 'was interrupted' }]
  if (progress?.phase !== 'held') sweepLitter(files, layout)
  const say = ({ outcome, failed }: SwitchOutcome, done: string) => ({
    note: outcome === 'stuck' ? `${what} could not be brought to an end: ${failed.at(-1)?.reason}` : `${what} ${done}`,
    outcome,
  })

  if (!progress) return say(await undo(context, journal, interrupted), 'had not begun; it was dropped')
  if (progress.phase === 'held' && progress.direction === 'forward') {
    if (!journal.hold) {
      closeJournal(files, layout, journal.id)
      return say({ outcome: 'done', failed: [] }, 'was complete')
    }
    if (!isExpired(clock, journal.hold)) return null
    const expired = [{ name: 'confirm', reason: 'was not confirmed in time' }]
    return say(await turnBack(context, journal, expired), 'was not confirmed in time and was taken back')
  }
  if (progress.direction === 'back')
    return say(await goBack(context, journal, progress.phase, interrupted), 'was taken back')
  if (!hasSwitched(context, journal, progress.phase))
    return say(await undo(context, journal, interrupted), 'was interrupted and undone')
  if (progress.attempts >= attemptsForward)
    return say(
      await turnBack(context, journal, interrupted),
      `did not get through ${attemptsForward} times and was taken back`,
    )

  const from = progress.phase === 'switch' ? 'after' : progress.phase
  const attempts = progress.attempts + 1
  writeProgress(files, layout, journal.id, { ...progress, attempts })
  const outcome = await goForward(context, journal, { from, attempts })
  return say(outcome, outcome.outcome === 'done' ? 'was interrupted and finished' : 'was interrupted and taken back')
}
