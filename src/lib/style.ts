// How text is dressed for whoever reads it: colours by meaning, the width there is, the moment that "3 minutes ago" counts from.

/** done: green · attention: yellow · failed, also deletes: red · dim: unchanged · strong: what the eye should find first. */
export type Tone = 'done' | 'attention' | 'failed' | 'dim' | 'strong'

export interface Style {
  /** Columns; Infinity where no terminal limits them. */
  readonly width: number
  readonly now: Date
  /** Options that a suggested command needs to mean the same machine: '' or ' --root ./try'. */
  readonly where: string
  paint(tone: Tone, text: string): string
}

const codes: Readonly<Record<Tone, readonly [on: number, off: number]>> = {
  done: [32, 39],
  attention: [33, 39],
  failed: [31, 39],
  dim: [2, 22],
  strong: [1, 22],
}

export function painter(colour: boolean): Style['paint'] {
  if (!colour) return (_, text) => text
  return (tone, text) => (text === '' ? '' : `\x1b[${codes[tone][0]}m${text}\x1b[${codes[tone][1]}m`)
}
