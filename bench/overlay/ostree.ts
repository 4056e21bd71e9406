// ostree with a repository of its own in the mode that needs no root. It flushes what it commits.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Command, runUnmeasured } from '../lib/command.ts'
import { removeAll } from '../lib/remove.ts'
import type { Contender } from '../lib/rounds.ts'

export interface Ostree {
  readonly directory: string
  begin(): void
  commit(tree: string): Contender
  checkout(): Contender
  fsck(): Contender
  prune(): Contender
  pruneDry(): Contender
  reset(): Contender
  /** Not measured. */
  commitNow(tree: string, branch?: string): void
  deleteBranch(branch: string): void
}

const main = 'main'

export function ostreeAt(program: string, directory: string): Ostree {
  const repository = join(directory, 'repo')
  const target = join(directory, 'checkout')
  const ostree = (verb: string, ...args: string[]): Command => ({
    program,
    args: [verb, `--repo=${repository}`, ...args],
  })
  const commit = (tree: string, branch: string) =>
    ostree('commit', '-b', branch, '--skip-if-unchanged', `--tree=dir=${tree}`)
  const shown = (name: string, command: Command): Contender => ({ name, ...command })
  return {
    directory,
    begin() {
      removeAll(directory)
      mkdirSync(directory, { recursive: true })
      runUnmeasured(ostree('init', '--mode=bare-user-only'))
    },
    commit: tree => shown('ostree commit', commit(tree, main)),
    checkout: () => shown('ostree checkout -H', ostree('checkout', '-U', '-H', main, target)),
    fsck: () => shown('ostree fsck', ostree('fsck')),
    prune: () => shown('ostree prune', ostree('prune', '--refs-only')),
    pruneDry: () => shown('ostree prune --no-prune', ostree('prune', '--refs-only', '--no-prune')),
    reset: () => shown('ostree reset', ostree('reset', main, `${main}^`)),
    commitNow: (tree, branch = main) => void runUnmeasured(commit(tree, branch)),
    deleteBranch: branch => void runUnmeasured(ostree('refs', '--delete', branch)),
  }
}
