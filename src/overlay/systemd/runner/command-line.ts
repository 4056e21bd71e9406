// Command lines of ExecStart=, ExecReload= and ExecStop= (systemd.service(5), "Command lines"): read once when units are
// loaded, filled with variables when they run.
import type { UnitName } from '../../names.ts'
import { Cannot } from './cannot.ts'
import { expandSpecifiers } from './specifiers.ts'
import { splitWords } from './words.ts'

export interface CommandLine {
  readonly words: readonly string[]
  /** `-`: its failure counts as success. */
  readonly mayFail: boolean
  /** `:` switches it off. */
  readonly substitutes: boolean
  /** `@`: the second word is what the program sees as its own name. */
  readonly namesItself: boolean
}

/** One value can hold several commands, separated by a lone `;`. */
export function readCommandLines(value: string, unit: UnitName): CommandLine[] {
  const commands: string[][] = [[]]
  for (const { text, raw } of splitWords(value)) {
    if (raw === ';') commands.push([])
    else commands.at(-1)!.push(expandSpecifiers(text, unit))
  }
  return commands.filter(words => words.length > 0).map(readPrefix)
}

function readPrefix([first = '', ...rest]: readonly string[]): CommandLine {
  const [, prefix = '', program = ''] = /^([-@:+!|]*)(.*)$/s.exec(first) ?? []
  const privileged = /[+!|]/.exec(prefix)
  if (privileged) throw new Cannot(`change privileges (the prefix "${privileged[0]}" of ${program})`)
  if (program === '') throw new Cannot(`run a command without a program ("${first}")`)
  return {
    words: [program, ...rest],
    mayFail: prefix.includes('-'),
    substitutes: !prefix.includes(':'),
    namesItself: prefix.includes('@'),
  }
}

/**
 * `${NAME}` is replaced anywhere; `$NAME` only as a word of its own, which becomes as many words as its value has;
 * `$$` is a dollar sign. What is not set is empty.
 */
export function substitute(words: readonly string[], environment: Readonly<Record<string, string>>): string[] {
  return words.flatMap(word => {
    const [, own] = /^\$([A-Za-z_]\w*)$/.exec(word) ?? []
    if (own) return (environment[own] ?? '').split(/\s+/).filter(part => part !== '')
    return [
      word.replace(/\$\$|\$\{([A-Za-z_]\w*)\}/g, (found, name: string | undefined) =>
        found === '$$' ? '$' : (environment[name!] ?? ''),
      ),
    ]
  })
}
