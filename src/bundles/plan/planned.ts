// What becomes of one resource, before it is put in order.
import type { Action, ActionWord } from '../model/plan.ts'
import type { Live } from '../platform.ts'
import { isWanted, type Pair, type WantedPair } from './pair.ts'
import type { Comparison } from './three-way.ts'

export interface Planned {
  readonly pair: Pair
  readonly word: ActionWord
  readonly why: Action['why']
  /** One line for people. */
  readonly reason: string
  /** What is changed, taken over, replaced or deleted; null where there is nothing, or nothing is touched. */
  readonly live: Live | null
  /** Null where nothing was compared. */
  readonly comparison: Comparison | null
}

/** Its resource is made and gets an id that nobody had before. */
export const isFresh = ({ word }: Pick<Planned, 'word'>): boolean => word === 'create' || word === 'replace'

export type WantedPlanned = Planned & { readonly pair: WantedPair }

export const hasWanted = (planned: Planned): planned is WantedPlanned => isWanted(planned.pair)
