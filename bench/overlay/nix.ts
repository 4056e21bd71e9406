// nix with a store, a database and settings of its own. By default it flushes its database but not the files it adds;
// `sync-before-registering` makes it flush those too.
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { type Command, runUnmeasured } from '../lib/command.ts'
import { removeAll } from '../lib/remove.ts'
import type { Contender } from '../lib/rounds.ts'

export interface Nix {
  readonly store: string
  readonly directory: string
  begin(): void
  add(paths: readonly string[]): Contender
  verify(): Contender
  optimise(): Contender
  gc(): Contender
  printDead(): Contender
  rollback(): Contender
  /** Not measured: adds the paths and returns where they are in the store. */
  addNow(paths: readonly string[]): string[]
  /** Not measured: makes these the generations of a profile. */
  setProfile(paths: readonly string[]): void
  /** Not measured: keeps these when garbage is collected. */
  root(paths: readonly string[]): void
}

export function nixAt(program: string, directory: string, { synced = false } = {}): Nix {
  const store = join(directory, 'store')
  const profile = join(directory, 'var/profiles/bench')
  const env = {
    NIX_STORE_DIR: store,
    NIX_STATE_DIR: join(directory, 'var'),
    NIX_LOG_DIR: join(directory, 'log'),
    NIX_CONF_DIR: join(directory, 'conf'),
    HOME: join(directory, 'home'),
  }
  const nixStore = (...args: string[]): Command => ({ program, args, env })
  const nixEnv = (...args: string[]): Command => ({ program: join(dirname(program), 'nix-env'), args, env })
  const shown = (name: string, command: Command): Contender => ({ name: synced ? `${name}, synced` : name, ...command })
  return {
    store,
    directory,
    begin() {
      removeAll(directory)
      for (const path of ['store', 'var/gcroots', 'var/profiles', 'log', 'conf', 'home'])
        mkdirSync(join(directory, path), { recursive: true })
      const settings = `build-users-group =\nsubstituters =\nsync-before-registering = ${synced}\n`
      writeFileSync(join(directory, 'conf/nix.conf'), settings)
    },
    add: paths => shown('nix-store --add', nixStore('--add', ...paths)),
    verify: () => shown('nix-store --verify --check-contents', nixStore('--verify', '--check-contents')),
    optimise: () => shown('nix-store --optimise', nixStore('--optimise')),
    gc: () => shown('nix-store --gc', nixStore('--gc')),
    printDead: () => shown('nix-store --gc --print-dead', nixStore('--gc', '--print-dead')),
    rollback: () => shown('nix-env --rollback', nixEnv('-p', profile, '--rollback')),
    addNow: paths =>
      runUnmeasured(nixStore('--add', ...paths))
        .trim()
        .split('\n'),
    setProfile(paths) {
      for (const path of paths) runUnmeasured(nixEnv('-p', profile, '--set', path))
    },
    root(paths) {
      for (const path of paths) symlinkSync(path, join(directory, 'var/gcroots', basename(path)))
    },
  }
}
