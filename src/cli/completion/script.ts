// The completion script of a shell.
import type { Catalogue } from '../command.ts'
import { bashScript } from './bash.ts'
import { fishScript } from './fish.ts'
import { spotsOf } from './spots.ts'
import { zshScript } from './zsh.ts'

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript } as const

type Shell = keyof typeof scripts

export const completionScript = (shell: Shell, catalogue: Catalogue): string => scripts[shell](spotsOf(catalogue))
