// Counts what an evaluation does and stops it at its limits; knows the calls under way, for traces.
// A failure is final, so nothing is unwound: the calls are as they were when it happened.
import { type FailureCode, JsonnetFailure, placeOf, printSite, type Site } from './failure.ts'

export interface JsonnetLimits {
  /** Calls, fields and lazy values evaluated, and elements made; default 50 million. */
  readonly steps?: number
  /** Calls, fields and lazy values that wait for one another; default 500. */
  readonly depth?: number
  /** Of the result, and of every string and array on the way to it; default 16 MiB. */
  readonly outputBytes?: number
}

export interface MachineOptions {
  readonly extVars: Readonly<Record<string, string>>
  readonly limits?: JsonnetLimits
  /** Hears std.trace. */
  readonly onTrace?: (line: string) => void
}

const shownCalls = 6

export class Machine {
  readonly #start: Site
  readonly #limits: Required<JsonnetLimits>
  readonly #sites: (Site | null)[] = []
  readonly extVars: ReadonlyMap<string, string>
  readonly trace: (line: string) => void
  #depth = 0
  #steps = 0
  #written = 0

  constructor(start: Site, options: MachineOptions) {
    const { limits = {}, extVars, onTrace = () => {} } = options
    this.#start = start
    this.#limits = { steps: 50_000_000, depth: 500, outputBytes: 16 * 2 ** 20, ...limits }
    this.extVars = new Map(Object.entries(extVars))
    this.trace = onTrace
  }

  enter(site: Site | null) {
    this.#sites[this.#depth] = site
    if (++this.#depth > this.#limits.depth) this.tooDeep('limit')
    if (++this.#steps > this.#limits.steps) this.#tooLong()
  }

  leave() {
    this.#depth--
  }

  /** A string or an array of this length is there. */
  holds(length: number) {
    if (length > this.#limits.outputBytes)
      this.fail(`a value of ${length} characters or elements is too large`, null, 'jsonnet.too-large')
  }

  /** Before a string or an array of this length is made, step by step. */
  makes(length: number) {
    this.holds(length)
    this.#steps += length
    if (this.#steps > this.#limits.steps) this.#tooLong()
  }

  /** As much of the result. */
  writes(bytes: number) {
    this.#written += bytes
    if (this.#written > this.#limits.outputBytes)
      this.fail(`the result is larger than ${this.#limits.outputBytes} bytes`, null, 'jsonnet.too-large')
  }

  /** Without a site of its own, the innermost one under way is to blame. */
  fail(reason: string, site: Site | null = null, code: FailureCode = 'jsonnet.failed'): never {
    const sites = this.#sites.slice(0, this.#depth).filter(under => under !== null)
    const at = site ?? sites.pop() ?? this.#start
    const calls = sites.filter(({ what }) => what !== undefined).reverse()
    const hint = calls.length > 0 ? { hint: `evaluated for ${printCalls(calls)}` } : {}
    throw new JsonnetFailure({ code, path: '', reason, ...hint, source: placeOf(at) })
  }

  /** `by` the limit, or the host's own stack that was full before. */
  tooDeep(by: 'limit' | 'host'): never {
    this.#depth = Math.min(this.#depth, this.#limits.depth)
    const reason =
      by === 'limit'
        ? `calls and values wait for one another more than ${this.#limits.depth} levels deep: endless recursion?`
        : 'nested too deeply to be evaluated'
    return this.fail(reason, null, 'jsonnet.recursion')
  }

  /** The site of the innermost call. */
  get site(): Site | null {
    for (let i = this.#depth - 1; i >= 0; i--) if (this.#sites[i]) return this.#sites[i]!
    return null
  }

  #tooLong(): never {
    return this.fail(`not done after ${this.#limits.steps} steps`, null, 'jsonnet.too-long')
  }
}

function printCalls(calls: readonly Site[]): string {
  const shown = calls.slice(0, shownCalls).map(printSite).join(', from ')
  return calls.length > shownCalls ? `${shown}, and ${calls.length - shownCalls} more` : shown
}
