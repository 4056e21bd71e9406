// Time spans as unit files write them: `90`, `1min 30s`, `infinity` (systemd.time(7)).

const units: Readonly<Record<string, number>> = {
  us: 0.001,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
}

const spellings: Readonly<Record<string, string>> = {
  usec: 'us',
  µs: 'us',
  msec: 'ms',
  sec: 's',
  second: 's',
  seconds: 's',
  min: 'm',
  minute: 'm',
  minutes: 'm',
  hr: 'h',
  hour: 'h',
  hours: 'h',
  day: 'd',
  days: 'd',
  week: 'w',
  weeks: 'w',
}

/** Milliseconds; null is infinity; undefined when the text is no time span. A bare number is seconds. */
export function readTimeSpan(text: string): number | null | undefined {
  if (text.trim() === 'infinity') return null
  let sum = 0
  const rest = text.trim().replace(/(\d+(?:\.\d+)?)\s*([a-zµ]*)\s*/g, (_, amount: string, unit: string) => {
    sum += Number(amount) * (units[spellings[unit] ?? (unit || 's')] ?? Number.NaN)
    return ''
  })
  return rest !== '' || text.trim() === '' || Number.isNaN(sum) ? undefined : Math.round(sum)
}
