// Cairn as an ordinary user has it: the shipped bundle with its Node where anyone can read it, a HOME of one's own, no root.
// A test that runs as root becomes nobody for it, because root would hide what an ordinary user may not do.
import { chmodSync, chownSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { removeTree } from '../src/lib/durable.ts'
import { realFiles } from '../src/lib/files.ts'
import { buildOnce, install } from './machine/bundle.ts'
import { type Finished, type RunOptions, run } from './machine/process.ts'

export interface OrdinaryUser {
  readonly home: string
  /** Any command, in HOME. */
  run(command: readonly string[], options?: Pick<RunOptions, 'input'>): Promise<Finished>
  cairn(...args: string[]): Promise<Finished>
  /** A file below HOME, with its directories, all of it theirs. Returns its path. */
  write(path: string, content: string | Uint8Array): string
  /** Everything below HOME goes. */
  clear(): void
  remove(): void
}

const nobody = 65534
const isRoot = process.getuid?.() === 0
const asNobody = isRoot ? ['setpriv', `--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups', '--'] : []

export async function ordinaryUser(): Promise<OrdinaryUser> {
  const place = mkdtempSync(join(tmpdir(), 'cairn-user-'))
  chmodSync(place, 0o755)
  const program = join(place, 'cairn')
  install(await buildOnce(), program)
  const node = join(program, `node_modules/node-linux-${process.arch}/bin`)
  mkdirSync(node)
  copyFileSync(process.execPath, join(node, 'node'))

  const home = join(place, 'home')
  const own = (path: string) => isRoot && chownSync(path, nobody, nobody)
  const makeHome = () => {
    mkdirSync(home)
    own(home)
  }
  const directory = (path: string) => {
    if (existsSync(path)) return
    directory(dirname(path))
    mkdirSync(path)
    own(path)
  }
  makeHome()
  const runAs: OrdinaryUser['run'] = (command, options) =>
    run([...asNobody, ...command], { ...options, cwd: home, env: { PATH: '/usr/bin:/bin', HOME: home } })
  return {
    home,
    run: runAs,
    cairn: (...args) => runAs([join(program, 'bin/cairn'), ...args]),
    write(path, content) {
      const file = join(home, path)
      directory(dirname(file))
      writeFileSync(file, content)
      own(file)
      return file
    },
    clear() {
      removeTree(realFiles, home)
      makeHome()
    },
    remove: () => removeTree(realFiles, place),
  }
}
