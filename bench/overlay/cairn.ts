// Our side: the bundle, started by bin/cairn as an installed package starts it, working below a root of its own.
import { copyFileSync, mkdirSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runUnmeasured } from '../lib/command.ts'
import type { Contender } from '../lib/rounds.ts'

const project = fileURLToPath(new URL('../..', import.meta.url))

/** Returns the path of the program. */
export function buildCairn(directory: string): string {
  const program = join(directory, 'bin/cairn')
  mkdirSync(dirname(program), { recursive: true })
  copyFileSync(join(project, 'bin/cairn'), program)
  symlinkSync(join(project, 'node_modules'), join(directory, 'node_modules'))
  runUnmeasured({
    program: process.execPath,
    args: [join(project, 'scripts/build.ts'), join(directory, 'dist')],
    cwd: project,
  })
  return program
}

export interface Cairn {
  readonly root: string
  prepare(config: string, ...options: string[]): Contender
  apply(config: string): Contender
  status(): Contender
  rollback(): Contender
  uninstall(): Contender
  verify(): Contender
  gc(...options: string[]): Contender
}

export function cairnAt(program: string, root: string): Cairn {
  const node = (...words: string[]): Contender => ({
    name: `cairn node ${words.filter(word => !word.startsWith('/') && word !== '-f').join(' ')}`,
    program,
    args: ['node', ...words, '--root', root],
  })
  return {
    root,
    prepare: (config, ...options) => node('prepare', '-f', config, ...options),
    apply: config => node('apply', '-f', config, '--no-systemd'),
    status: () => node('status'),
    rollback: () => node('rollback', '--no-systemd'),
    uninstall: () => node('uninstall', '--yes', '--no-systemd'),
    verify: () => node('verify'),
    gc: (...options) => node('gc', ...options),
  }
}
