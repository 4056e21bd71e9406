// Errors as statuses carry them, and when what failed is tried again. The same failure keeps the time at which it began.
import { contentError } from '../../content/content-error.ts'
import type { ContentError } from '../../content/messages.ts'
import type { Tree, Trouble, Turn } from './model.ts'
import type { Failure } from './protocol.ts'

/** Of the manager itself. Without `retryInMs` it waits for a change. */
export function errorOf(
  turn: Turn,
  failure: Failure,
  before?: ContentError | null,
  retryInMs?: number,
  tries = 1,
): ContentError {
  const now = new Date(turn.now.wall)
  const since = before?.code === failure.code && before.text === failure.text ? new Date(before.since) : now
  const retryAt = retryInMs === undefined ? {} : { retryAt: new Date(turn.now.wall + retryInMs) }
  return contentError('manager', failure, { since, now, tries, ...retryAt })
}

/** The same, remembered by the tree from its last plan to this one. */
export function recall(turn: Turn, tree: Tree, failure: Failure): ContentError {
  const key = `${failure.code} ${failure.text}`
  const error = tree.errorsNow.get(key) ?? tree.errors.get(key) ?? errorOf(turn, failure)
  tree.errorsNow.set(key, error)
  return error
}

export function forgetOldErrors(tree: Tree) {
  tree.errors = tree.errorsNow
  tree.errorsNow = new Map()
}

export interface Patience {
  readonly firstMs: number
  readonly mostMs: number
  readonly tries: number
}

/** One more failure; after the last try it stays, visible, until something changes. */
export function moreTrouble(turn: Turn, before: Trouble | null, failure: Failure, patience: Patience): Trouble {
  const tries = (before?.tries ?? 0) + 1
  if (tries >= patience.tries) return { error: errorOf(turn, failure, before?.error), tries, retryAt: null }
  const wait = Math.min(patience.firstMs * 2 ** (tries - 1), patience.mostMs)
  return { error: errorOf(turn, failure, before?.error, wait, tries), tries, retryAt: turn.now.monotonic + wait }
}

/** It lies in the bytes themselves, which their digest fixes: no time will change it. */
export const isOfTheBytes = ({ code }: Failure): boolean => code.startsWith('archive.') || ofTheBytes.has(code)

const ofTheBytes: ReadonlySet<string> = new Set(['image.invalid', 'image.layer-mismatch', 'image.not-a-container'])

/** May be tried now. */
export const isOver = (turn: Turn, trouble: Trouble | null): boolean =>
  trouble === null || (trouble.retryAt !== null && trouble.retryAt <= turn.now.monotonic)

const severities = ['notice', 'warning', 'error'] as const

/** All of them as one: texts joined, the highest severity, the newest time; tried again when the first of them is. */
export function joinErrors(errors: readonly ContentError[]): ContentError | undefined {
  const [first] = errors
  if (!first || errors.length === 1) return first
  const worst = errors.reduce((one, other) =>
    severities.indexOf(other.severity) > severities.indexOf(one.severity) ? other : one,
  )
  const texts = [...new Set(errors.map(({ text }) => text))]
  const hopeless = errors.some(({ retryAt }) => retryAt === undefined)
  const retryAt = errors.map(error => error.retryAt!).toSorted()[0]
  return {
    code: worst.code,
    text: texts.join('; ').slice(0, 4000),
    severity: worst.severity,
    since: errors
      .map(({ since }) => since)
      .toSorted()
      .at(-1)!,
    ...(!hopeless && { retryAt: retryAt! }),
    source: worst.source,
  }
}

export const setTimer = (turn: Turn, entity: string, at: number) => turn.state.timers.set(entity, at)
