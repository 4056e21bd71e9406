/** The first line of a page that is written by scripts/docs.ts. */
export const madeFrom = (what: string): string => `<!-- Made by scripts/docs.ts from ${what}. -->\n`
