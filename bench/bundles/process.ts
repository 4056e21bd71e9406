// What a running process has taken, as the kernel counts it.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'

export interface Taken<Result> {
  readonly result: Result
  readonly wallMs: number
  /** Of all its threads, of the garbage collector too. */
  readonly cpuMs: number
  readonly peakBytes: number
}

/** `work` is done by the process; its peak is that of the work alone. */
export async function takenBy<Result>(pid: number, work: () => Promise<Result>): Promise<Taken<Result>> {
  forgetPeak(pid)
  const cpu = cpuMs(pid)
  const started = performance.now()
  const result = await work()
  const wallMs = performance.now() - started
  return { result, wallMs, cpuMs: cpuMs(pid) - cpu, peakBytes: peakBytes(pid) }
}

/** In nanoseconds behind the scenes, where /proc/PID/stat has hundredths of a second. */
function cpuMs(pid: number): number {
  const tasks = readdirSync(`/proc/${pid}/task`)
  const nanoseconds = tasks.map(task =>
    Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]),
  )
  return nanoseconds.reduce((sum, each) => sum + each, 0) / 1e6
}

/** Of the resident set, since it was forgotten last. */
function peakBytes(pid: number): number {
  const [, kilobytes] = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kilobytes) * 1024
}

function forgetPeak(pid: number) {
  writeFileSync(`/proc/${pid}/clear_refs`, '5')
}
