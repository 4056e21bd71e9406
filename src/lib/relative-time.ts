// A moment as seen from now: `3 minutes ago`, `in 45 s`, `just now`. Whole units, rounded down, the largest only.

const units = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const

export function relativeTime(moment: Date, now: Date): string {
  const seconds = Math.round((moment.getTime() - now.getTime()) / 1000)
  if (Math.abs(seconds) < 5) return seconds > 0 ? `in ${seconds} s` : 'just now'
  const words = inWords(Math.abs(seconds))
  return seconds > 0 ? `in ${words}` : `${words} ago`
}

function inWords(seconds: number): string {
  for (const [unit, size] of units) {
    const count = Math.floor(seconds / size)
    if (count > 0) return `${count} ${unit}${count === 1 ? '' : 's'}`
  }
  return `${seconds} s`
}
