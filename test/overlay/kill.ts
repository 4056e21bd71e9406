// kill -9 at an exact place without a hook in the product: strace ends a process when it enters its n-th call of a kind that
// changes a disk. Watching a run that is left alone tells which places there are.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runOrThrow } from '../machine/process.ts'

/** Numbers count from 1, and each kind of call by itself, as strace counts them. */
export interface Place {
  readonly call: string
  readonly n: number
}

/** Not write: Node wakes its own threads with it, another number of times in each run. */
const changingCalls = [
  ...['rename', 'renameat', 'renameat2', 'symlink', 'symlinkat', 'link', 'linkat', 'unlink', 'unlinkat', 'mkdir'],
  ...['mkdirat', 'rmdir', 'fsync', 'fdatasync', 'syncfs', 'chmod', 'fchmod', 'fchown', 'utimensat', 'ftruncate'],
]

/** Without -f only the main thread is watched: it makes all changes, and when it dies the process does. */
const strace = (...rest: string[]) => ['strace', '--quiet=all', '--signal=none', ...rest, '--']

/** The command, killed before it has done the call. */
export const killedAt = ({ call, n }: Place, command: readonly string[]): string[] => [
  ...strace('-o', '/dev/null', '-e', `trace=${call}`, '-e', `inject=${call}:signal=SIGKILL:when=${n}`),
  ...command,
]

/** All places of a run that nobody stops, in order. */
export async function placesOf(command: readonly string[]): Promise<Place[]> {
  const directory = mkdtempSync(join(tmpdir(), 'cairn-calls-'))
  try {
    const log = join(directory, 'calls')
    await runOrThrow([...strace('-o', log, '-e', `trace=${changingCalls.join(',')}`), ...command])
    const seen = new Map<string, number>()
    return [...readFileSync(log, 'utf8').matchAll(/^(\w+)\(/gm)].map(([, call = '']) => {
      const n = (seen.get(call) ?? 0) + 1
      seen.set(call, n)
      return { call, n }
    })
  } finally {
    rmSync(directory, { recursive: true })
  }
}
