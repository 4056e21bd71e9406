// How far something is on its way. Order is meaning: what is further has all that is before it.
// There is no state for failure: an error stands beside the state in which it happened.

export const states = [
  'initial',
  'resolving',
  'resolved',
  'downloading',
  'downloaded',
  'verifying',
  'verified',
  'loading',
  'loaded',
  'creating',
  'created',
] as const

export type State = (typeof states)[number]

/** True when `state` is `other` or further. */
export const reached = (state: State, other: State): boolean => states.indexOf(state) >= states.indexOf(other)
