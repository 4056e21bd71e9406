import type { Screen, Terminal } from './terminal.ts'

export interface FakeTerminal extends Terminal {
  readonly printed: { out: string; err: string }
}

/** Keeps what is printed. `answer` makes it a terminal on which somebody answers. */
export function fakeTerminal(
  given: { input?: string; answer?: string; live?: boolean; width?: number } = {},
): FakeTerminal {
  const { input = '', answer, live = false, width = Number.POSITIVE_INFINITY } = given
  const printed = { out: '', err: '' }
  const screen = (name: 'out' | 'err'): Screen => ({
    write: text => {
      printed[name] += text
    },
    live,
    colour: false,
    width: () => width,
  })
  return {
    printed,
    out: screen('out'),
    err: screen('err'),
    readInput: async () => Buffer.from(input),
    ask: answer === undefined ? null : async () => answer,
    askHidden: answer === undefined ? null : async () => answer,
  }
}
