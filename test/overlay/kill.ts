// kill -9 at an exact place without a hook in the product: strace ends the process when it enters its n-th call that changes
// a disk. Counting the calls of a run that is left alone tells how many places there are.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from '../machine/process.ts'

const changingCalls =
  'rename,renameat,renameat2,symlink,symlinkat,unlink,unlinkat,mkdir,mkdirat,rmdir,fsync,fchmod,fchown,link,linkat'

export const killAt = (n: number): string[] => [
  ...['strace', '--quiet=all', '--signal=none', '-o', '/dev/null', '--seccomp-bpf', '-f'],
  ...['-e', `trace=${changingCalls}`, '-e', `inject=${changingCalls}:signal=SIGKILL:when=${n}`, '--'],
]

/** How many changing calls the main thread of a command makes when nobody stops it. */
export async function countCalls(command: readonly string[]): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), 'cairn-calls-'))
  try {
    const log = join(directory, 'calls')
    await run([
      'strace',
      '--quiet=all',
      '--signal=none',
      '--seccomp-bpf',
      '-f',
      '-o',
      log,
      '-e',
      `trace=${changingCalls}`,
      '--',
      ...command,
    ])
    const lines = readFileSync(log, 'utf8').split('\n').filter(Boolean)
    const main = lines[0]?.split(' ')[0]
    return lines.filter(line => line.split(' ')[0] === main).length
  } finally {
    rmSync(directory, { recursive: true })
  }
}
