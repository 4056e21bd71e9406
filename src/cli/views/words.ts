// Small words that several views use.

export const counted = (count: number, noun: string, nouns = `${noun}s`): string =>
  `${count} ${count === 1 ? noun : nouns}`

/** `containerd-3f9a2k7q`: the name and the first characters of the fingerprint. */
export const shortState = (state: string): string => state.replace(/-([a-z2-7]{8})[a-z2-7]{44}$/, '-$1')

/** `3 added, 1 removed`; parts that are zero are left out. */
export const tally = (parts: Readonly<Record<string, number>>): string =>
  Object.entries(parts)
    .filter(([, count]) => count > 0)
    .map(([word, count]) => `${count} ${word}`)
    .join(', ')

/** Enough of an id to name it: `cairn node confirm` takes its beginning. */
export const shortId = (id: string): string => id.slice(0, 8)

/** The flag that gives each confirmation. */
export const confirmationFlags = { massDelete: '--allow-mass-delete', dataLoss: '--allow-data-loss' } as const
