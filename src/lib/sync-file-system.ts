// One flush for everything written to a file system, where one for each file would wait for the disk each time.
import { spawnSync } from 'node:child_process'
import { findProgram, run } from './run.ts'

/** False when the program is missing or fails; then the caller flushes file by file. */
export async function syncFileSystem(path: string): Promise<boolean> {
  const program = findProgram('sync')
  return program !== null && (await run(program, ['-f', path])).code === 0
}

/** The same for a sequence of steps that must not be interleaved with anything. */
export function syncFileSystemNow(paths: readonly string[]): boolean {
  const program = findProgram('sync')
  return program !== null && spawnSync(program, ['-f', ...paths], { stdio: 'ignore' }).status === 0
}
