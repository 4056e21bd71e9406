// Finds the states that a tree mentions, so that a file which only names a path keeps it alive. Looked for is a dash and
// the 52 characters of a fingerprint; known states only, so that nothing else can look like one.
import { byName, type StateName } from '../names.ts'

export interface ReferenceScanner {
  /** `first` starts a new file; a name may lie across two chunks of one file. */
  scan(chunk: Buffer, first: boolean): void
  /** Sorted. */
  found(): StateName[]
}

const fingerprintLength = 52
const dash = 0x2d
const nothing: Buffer = Buffer.alloc(0)
const inFingerprint = new Uint8Array(256)
for (const character of 'abcdefghijklmnopqrstuvwxyz234567') inFingerprint[character.charCodeAt(0)] = 1

export function referenceScanner(candidates: Iterable<StateName>): ReferenceScanner {
  const byFingerprint = new Map([...candidates].map(state => [state.slice(-fingerprintLength), state]))
  const found = new Set<StateName>()
  let tail = nothing

  const search = (bytes: Buffer) => {
    for (const start of runsAfterDash(bytes)) {
      const state = byFingerprint.get(bytes.toString('latin1', start, start + fingerprintLength))
      if (state) found.add(state)
    }
  }
  return {
    scan(chunk, first) {
      if (byFingerprint.size === 0) return
      const held = first ? nothing : tail
      if (held.length > 0) search(Buffer.concat([held, chunk.subarray(0, fingerprintLength)]))
      search(chunk)
      tail = Buffer.concat([held, chunk.subarray(-fingerprintLength)]).subarray(-fingerprintLength)
    },
    found: () => [...found].sort(byName),
  }
}

/**
 * Starts of 52 fingerprint characters in a row that follow a dash. Looks at the last place of a possible run first: most
 * bytes of a program cannot be in one, and each of those rules out all starts before it.
 */
function* runsAfterDash(bytes: Buffer): Generator<number> {
  for (let start = 1; start + fingerprintLength <= bytes.length; ) {
    let at = start + fingerprintLength - 1
    while (at >= start && inFingerprint[bytes[at] as number]) at--
    const isRun = at < start
    if (isRun && bytes[start - 1] === dash) yield start
    // A run contains no dash, so the next hit starts behind the character after it.
    start = isRun ? start + fingerprintLength + 1 : at + 1
  }
}
