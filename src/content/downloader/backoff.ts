// How long to wait before trying again. Inner tries follow each other within one start of a download; outer ones give its
// place to others in between. All of it is left to chance in part, so that a fleet spreads.

/** In a row and without a new byte. */
export const innerTries = 6
export const longestInnerMs = 30_000
/** What a server may ask for at most. */
export const longestRetryAfterMs = 3_600_000

/** After try number `tries`, counted from 1: up to half a second, doubling. */
export const innerDelayMs = (tries: number, random: () => number): number =>
  random() * Math.min(500 * 2 ** (tries - 1), longestInnerMs)

/** After failure number `fails`, counted from 1: a minute, doubling to the longest; 0.3 to 1.0 of it. */
export const outerDelayMs = (fails: number, longestMs: number, random: () => number): number =>
  Math.min(60_000 * 2 ** (fails - 1), longestMs) * (0.3 + 0.7 * random())
