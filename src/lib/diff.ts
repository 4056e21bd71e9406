// A line diff for people: what a plan shows of a file that changes. Equal stretches are folded to a few lines of context.

const context = 2
/** Past this many differing lines a diff is no longer read; the plan then only says that the file changes. */
const longest = 2_000

/** Lines with `  `, `- ` or `+ ` before them, `  …` where equal lines are left out; null when too different or not text. */
export function diffText(before: Uint8Array, after: Uint8Array): string[] | null {
  const [a, b] = [linesOf(before), linesOf(after)]
  if (!a || !b) return null
  const script = shortestScript(a, b)
  return script && fold(script)
}

function linesOf(bytes: Uint8Array): string[] | null {
  if (bytes.length > 256 * 1024 || bytes.includes(0)) return null
  const lines = Buffer.from(bytes).toString('utf8').split('\n')
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines
}

/** Myers' greedy walk: on each diagonal the furthest point reached with d edits; the way back is read from the traces. */
function shortestScript(a: readonly string[], b: readonly string[]): string[] | null {
  const traces: Map<number, number>[] = []
  const furthest = new Map([[1, 0]])
  for (let edits = 0; edits <= Math.min(a.length + b.length, longest); edits++) {
    traces.push(new Map(furthest))
    for (let k = -edits; k <= edits; k += 2) {
      const down = k === -edits || (k !== edits && (furthest.get(k - 1) ?? -1) < (furthest.get(k + 1) ?? -1))
      let x = down ? furthest.get(k + 1)! : furthest.get(k - 1)! + 1
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++
      furthest.set(k, x)
      if (x >= a.length && x - k >= b.length) return walkBack(a, b, traces)
    }
  }
  return null
}

function walkBack(a: readonly string[], b: readonly string[], traces: readonly Map<number, number>[]): string[] {
  const script: string[] = []
  let [x, y] = [a.length, b.length]
  for (let edits = traces.length - 1; edits >= 0; edits--) {
    const furthest = traces[edits]!
    const k = x - y
    const down = k === -edits || (k !== edits && (furthest.get(k - 1) ?? -1) < (furthest.get(k + 1) ?? -1))
    const fromX = furthest.get(down ? k + 1 : k - 1) ?? 0
    const fromY = fromX - (down ? k + 1 : k - 1)
    while (x > fromX && y > fromY && x > 0 && y > 0 && a[x - 1] === b[y - 1]) {
      script.push(`  ${a[--x]}`)
      y--
    }
    if (edits > 0) script.push(down ? `+ ${b[--y]}` : `- ${a[--x]}`)
  }
  return script.reverse()
}

function fold(script: readonly string[]): string[] {
  const near = new Set<number>()
  script.forEach((line, index) => {
    if (line.startsWith('  ')) return
    for (let at = index - context; at <= index + context; at++) near.add(at)
  })
  return script.flatMap((line, index) => (near.has(index) ? [line] : near.has(index - 1) || index === 0 ? ['  …'] : []))
}
