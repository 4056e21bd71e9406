// Takes back what was written on other platforms, the last first, each only if it still is as it was written: what another
// changed meanwhile is left and reported. Looks at what is live before each step, so it may be stopped and begun again.
import { messageOf, unreachable } from '../../lib/errors.ts'
import { isEqual } from '../../lib/json.ts'
import type { Problem } from '../../lib/problem.ts'
import { redact } from '../../lib/redact.ts'
import type { Live, LiveId, Platform, WholeResource, Write, Written } from '../platform.ts'
import { type BeforeImage, type Journals, LostLease } from '../store.ts'
import { readOne, resourceImage } from './before.ts'
import { type Ids, liveIdWith, withIds } from './ids.ts'
import type { Held } from './lock.ts'
import type { StepState } from './run-journaled.ts'
import { type Patience, writeWithin } from './write-within.ts'

export interface Undo extends Patience {
  readonly journalId: string
  readonly journals: Journals
  readonly platforms: readonly Platform[]
  readonly held: Held
  onUndone?(step: StepState): void
}

export interface Undone {
  /** What could not be brought back: `rollback.conflict` where another changed it, else `rollback.incomplete`. */
  readonly leftovers: readonly Problem[]
  /** Former id to the new one, where a platform could not give the former one back. */
  readonly ids: ReadonlyMap<string, string>
}

const pausesMs = [1_000, 4_000]

/** Steps in the order in which they ended. */
export async function undoSteps(undo: Undo, steps: readonly StepState[]): Promise<Undone> {
  const leftovers: Problem[] = []
  const ids = restoredBefore(steps)
  for (const step of steps.toReversed()) {
    if (step.state === 'undone') continue
    const problem = await withTries(undo, step, ids)
    if (problem) leftovers.push(problem)
    else undo.onUndone?.(step)
  }
  return { leftovers, ids }
}

/** An undo that was begun before has noted in the journal under which ids it brought things back. */
function restoredBefore(steps: readonly StepState[]): Map<string, string> {
  const ids = new Map<string, string>()
  for (const { write, id } of steps)
    if (write.do === 'remove' && id !== undefined && id !== write.id) ids.set(write.id, id)
  return ids
}

async function withTries(undo: Undo, step: StepState, ids: Map<string, string>): Promise<Problem | null> {
  for (let tries = 0; ; tries++)
    try {
      await undo.held.confirm()
      const problem = await undoStep(undo, step, ids)
      if (!problem) await undo.journals.undone(undo.journalId, step.seq)
      return problem
    } catch (error) {
      if (error instanceof LostLease) throw error
      const pause = pausesMs[tries]
      if (pause === undefined)
        return {
          code: 'rollback.incomplete',
          path: pathOf(step),
          reason: `it was written and could not be taken back: ${redact(messageOf(error))}`,
          hint: 'Look at it, then apply again: the next plan starts from what is live.',
        }
      await undo.clock.sleep(pause)
    }
}

async function undoStep(undo: Undo, step: StepState, ids: Map<string, string>): Promise<Problem | null> {
  const platform = undo.platforms.find(({ name }) => name === step.platform)
  if (!platform) throw new Error(`the platform ${step.platform} is not configured`)
  const put = (write: Write) => writeWithin(undo, platform, write)
  const at: Place = { platform, step, put }
  const { before, write } = step
  switch (write.do) {
    case 'create':
      return undoCreate(at, withIds(write, ids))
    case 'update':
    case 'restore':
      return before?.what === 'resource' ? undoUpdate(at, withIds(write, ids), withIds(before.write, ids)) : null
    case 'remove':
      return before?.what === 'resource' ? undoRemove(at, before, ids, undo) : null
    case 'associate':
    case 'dissociate':
      if (before?.what !== 'association' || before.was === (write.do === 'associate')) return null
      return setAssociation(at, liveIdWith(write.from, ids), liveIdWith(write.to, ids), before.was)
    case 'put-secret':
      return before?.what === 'secret' ? undoSecret(at, write, before.sealed) : null
    case 'restore-secret':
      return null
    default:
      return unreachable(write)
  }
}

interface Place {
  readonly platform: Platform
  readonly step: StepState
  put(write: Write): Promise<Written>
}

async function undoCreate({ platform, step, put }: Place, write: WholeResource): Promise<Problem | null> {
  const made = await createdBy(platform, step, write)
  const [live, ...more] = made
  if (!live) return null
  if (more.length > 0) return conflict(step, `${made.length} that look like it are there`)
  if (live.revision !== step.revision && !looksLike(live, write)) return conflict(step)
  await put({ do: 'remove', kind: live.kind, id: live.id, ifRevision: live.revision })
  return null
}

/** Where the platform chooses ids, an unanswered create is known by its name, its content, and by not having been there before. */
async function createdBy(platform: Platform, { id, before }: StepState, write: WholeResource): Promise<Live[]> {
  if (id !== undefined || platform.clientIds) {
    const live = await readOne(platform, { kind: write.kind, id: id ?? write.id })
    return live ? [live] : []
  }
  const known = before?.what === 'absent' ? before.alike : []
  const found = await platform.find([write])
  return found.filter(live => !known.includes(live.id) && looksLike(live, write))
}

async function undoUpdate({ platform, step, put }: Place, written: WholeResource, before: Restore) {
  const live = await readOne(platform, written)
  if (!live) return conflict(step, 'it was deleted by somebody else')
  if (looksLike(live, before)) return null
  if (live.revision !== step.revision && !looksLike(live, written)) return conflict(step)
  await put({ ...before, ifRevision: live.revision })
  return null
}

async function undoRemove(
  at: Place,
  image: Extract<BeforeImage, { what: 'resource' }>,
  ids: Map<string, string>,
  { journals, journalId }: Undo,
): Promise<null> {
  const { platform, step, put } = at
  const formerId = image.write.id
  const before = withIds(image.write, ids)
  let live: LiveId | undefined = await readOne(platform, before)
  if (!live && !platform.clientIds) {
    const found = await platform.find([before])
    live = found.find(other => !image.alike?.includes(other.id) && looksLike(other, before))
  }
  const id = live?.id ?? (await put(before)).id ?? formerId
  if (id !== formerId) {
    ids.set(formerId, id)
    await journals.done(journalId, step.seq, id, step.revision ?? 0)
    await repointReferrers(at, formerId, ids)
  }
  const self = { kind: before.kind, id }
  for (const target of image.associations) await setAssociation(at, self, liveIdWith(target, ids), true)
  for (const carrier of image.carriers ?? []) await setAssociation(at, liveIdWith(carrier, ids), self, true)
  return null
}

/** Who was to be changed after the removal, and was not yet, still refers to the former id. */
async function repointReferrers({ platform, put }: Place, formerId: string, ids: Ids): Promise<void> {
  for (const { from } of await platform.referrers([formerId])) {
    const live = await readOne(platform, from)
    if (live) await put(withIds((await resourceImage(platform, live)).write, ids))
  }
}

/** An end that is not there, or not there again yet, brings its associations along itself. */
async function setAssociation({ platform, put }: Place, from: LiveId, to: LiveId, wanted: boolean): Promise<null> {
  const live = await readOne(platform, from)
  if (!live || live.associations.some(({ id }) => id === to.id) === wanted) return null
  if (wanted && !(await readOne(platform, to))) return null
  await put({ do: wanted ? 'associate' : 'dissociate', from, to })
  return null
}

async function undoSecret(
  { platform, step, put }: Place,
  { key, fingerprint }: { key: string; fingerprint: string },
  sealed: string | null,
): Promise<Problem | null> {
  const current = (await platform.secrets.fingerprints([key])).get(key)
  if (current === fingerprint) {
    await put({ do: 'restore-secret', key, sealed })
    return null
  }
  const untouched = step.state === 'intended' || (await platform.secrets.sealed(key)) === sealed
  return untouched ? null : conflict(step)
}

type Restore = Extract<Write, { do: 'restore' }>

const looksLike = (live: Live, { displayName, spec }: WholeResource): boolean =>
  live.displayName === displayName && isEqual(live.spec, spec)

const conflict = (step: StepState, reason = 'it was changed by somebody else since it was written'): Problem => ({
  code: 'rollback.conflict',
  path: pathOf(step),
  reason: `${reason}, so it was left as it is`,
  hint: 'Look at it, then apply again: the next plan starts from what is live.',
})

/** `far:Disk/data`, with the display name: a journal knows no other. */
function pathOf({ platform, write, before }: StepState): string {
  const prefix = platform ? `${platform}:` : ''
  if ('from' in write) return `${prefix}${write.from.kind}/${write.from.id}`
  if ('key' in write) return `${prefix}secrets.${write.key}`
  const {
    kind,
    id,
    displayName = id,
  }: LiveId & { displayName?: string } = before?.what === 'resource' ? before.write : write
  return `${prefix}${kind}/${displayName}`
}
