import type { SuiteReport } from './report.ts'

export interface BenchOptions {
  /** Smaller sizes and fewer rounds: is the benchmark itself sound? */
  readonly quick: boolean
  /** Names of series; the others are left out. */
  readonly only?: readonly string[]
  /** Instead of what the suite takes for enough. */
  readonly rounds?: number
  /** Empty, removed afterwards. */
  readonly directory: string
  readonly say: (line: string) => void
}

/** What bench/<suite>/bench.ts exports as `bench`. */
export type Bench = (options: BenchOptions) => Promise<SuiteReport>
