export interface Spread {
  readonly median: number
  readonly min: number
  readonly max: number
}

export function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b)
  const at = (index: number) => sorted[index] ?? Number.NaN
  const middle = (sorted.length - 1) / 2
  return {
    median: (at(Math.floor(middle)) + at(Math.ceil(middle))) / 2,
    min: at(0),
    max: at(sorted.length - 1),
  }
}

/** How many times longer `theirs` took: of the medians, and the least and the most of any one round. */
export function ratioOf(theirs: readonly number[], ours: readonly number[]): Spread {
  const perRound = spreadOf(theirs.map((value, round) => value / (ours[round] ?? Number.NaN)))
  return { ...perRound, median: spreadOf(theirs).median / spreadOf(ours).median }
}
