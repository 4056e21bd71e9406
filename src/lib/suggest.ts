// "Did you mean": the one candidate that a typing mistake most likely stood for, or none when nothing is near: at most two
// mistakes, and at most one in three letters. Upper and lower case are the same.

export function nearest(word: string, candidates: Iterable<string>): string | null {
  const limit = Math.max(1, Math.min(2, Math.floor(word.length / 3)))
  let best: { candidate: string; distance: number } | null = null
  for (const candidate of candidates) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase(), limit)
    if (distance <= limit && (!best || distance < best.distance)) best = { candidate, distance }
  }
  return best?.candidate ?? null
}

export function didYouMean(word: string, candidates: Iterable<string>): string | undefined {
  const found = nearest(word, candidates)
  return found === null ? undefined : `did you mean "${found}"?`
}

/** Insertions, deletions, replacements and swaps of neighbours; anything above `limit` is only known to be above it. */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = last[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      const swapped =
        i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? beforeLast[j - 2]! + 1 : replaced
      row.push(Math.min(replaced, last[j]! + 1, row[j - 1]! + 1, swapped))
    }
    beforeLast = last
    last = row
  }
  return last[b.length]!
}
