// How much an archive may give. Small archives can be bombs: what counts is what comes out.
import { tooDense, tooLarge } from './refusals.ts'

export interface ArchiveLimits {
  readonly entries: number
  readonly bytes: number
  /** Bytes out for one byte of the archive, … */
  readonly ratio: number
  /** … once this many bytes came out. */
  readonly ratioFrom: number
  /** Parts of a path. */
  readonly depth: number
}

export const defaultLimits: ArchiveLimits = {
  entries: 1_000_000,
  bytes: 16 * 2 ** 30,
  ratio: 1000,
  ratioFrom: 64 * 2 ** 20,
  depth: 64,
}

export interface Meter {
  /** Before the bytes are used. `entry` is the one at which a refusal points. */
  count(bytes: number, entry: string): void
}

export function meterOf({ bytes: most, ratio, ratioFrom }: ArchiveLimits, archiveSize: number): Meter {
  let total = 0
  return {
    count(bytes, entry) {
      total += bytes
      if (total > most) throw tooLarge(entry, most)
      if (total > ratioFrom && total > archiveSize * ratio) throw tooDense(entry, ratio)
    },
  }
}
