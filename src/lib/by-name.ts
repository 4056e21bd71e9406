/** Plain byte order, the same on every machine and in every locale. */
export const byName = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
