// Names of what is not whole yet: beside the place it will have, and known as such after a crash.

/** `random` gives numbers from 0 to 1. */
export const halfMadeName = (name: string, random: () => number): string => `.${name}.tmp-${randomHex(random)}`

/** The name that it would have had; null when this is no half-made one. */
export const wholeNameOf = (name: string): string | null => /^\.(.+)\.tmp-[0-9a-f]{12}$/.exec(name)?.[1] ?? null

/** Twelve digits. */
export const randomHex = (random: () => number): string =>
  Math.floor(random() * 2 ** 48)
    .toString(16)
    .padStart(12, '0')
