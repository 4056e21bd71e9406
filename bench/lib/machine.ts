// What the figures of a run depend on besides the programs.
import { spawnSync } from 'node:child_process'
import { availableParallelism, cpus, release, totalmem } from 'node:os'

export interface Machine {
  readonly cores: number
  readonly processor: string
  readonly memoryBytes: number
  readonly kernel: string
  /** Where the benchmark works. */
  readonly fileSystem: string
}

export const readMachine = (workDirectory: string): Machine => ({
  cores: availableParallelism(),
  processor: cpus()[0]?.model ?? 'unknown',
  memoryBytes: totalmem(),
  kernel: release(),
  fileSystem: fileSystemOf(workDirectory),
})

function fileSystemOf(directory: string): string {
  const { stdout } = spawnSync('df', ['--output=fstype', directory], { encoding: 'utf8' })
  return stdout?.split('\n')[1]?.trim() || 'unknown'
}
