// GNU stow: a farm of links, no store, nothing flushed to disk.
import { mkdirSync } from 'node:fs'
import { removeAll } from '../lib/remove.ts'
import type { Contender } from '../lib/rounds.ts'
import type { Data } from './data.ts'

export interface Stow {
  begin(): void
  stow(): Contender
  restow(): Contender
  unstow(): Contender
}

export function stowAt(program: string, target: string, { sources, packages }: Data): Stow {
  const stow = (...options: string[]): Contender => ({
    name: ['stow', ...options].join(' '),
    program,
    args: [...options, '--no-folding', '-d', sources, '-t', target, ...packages],
  })
  return {
    begin() {
      removeAll(target)
      mkdirSync(target, { recursive: true })
    },
    stow: () => stow(),
    restow: () => stow('-R'),
    unstow: () => stow('-D'),
  }
}
