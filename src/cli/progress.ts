// Shows how far long work is: live bars on a terminal, which vanish when their work is done; elsewhere a plain line when a
// task ends and, for a long one, now and then before. Goes to standard error, so that output stays clean.
import type { Progress, Task } from '../lib/progress.ts'
import { redact, withoutControls } from '../lib/redact.ts'
import { printSize } from '../lib/size.ts'
import { painter } from '../lib/style.ts'
import type { Screen } from '../lib/terminal.ts'

export interface ShownProgress extends Progress {
  /** Takes the live lines away; nothing is shown after it. */
  close(): void
}

export const hiddenProgress: ShownProgress = {
  begin: () => ({ expect() {}, advance() {}, done() {}, fail() {} }),
  close() {},
}

interface Counted {
  readonly label: string
  total: number | undefined
  bytes: number
}

/** What becomes of a task, told to whoever shows it. */
interface Viewer {
  began(task: Counted): void
  moved(task: Counted): void
  ended(task: Counted, line: string): void
  close(): void
}

export function showProgress(screen: Screen): ShownProgress {
  const viewer = screen.live ? liveViewer(screen) : plainViewer(screen)
  const paint = painter(screen.colour)
  return {
    begin(label, total) {
      const task: Counted = { label: withoutControls(label), total, bytes: 0 }
      viewer.began(task)
      return follow(task, viewer, {
        done: note => `${paint('done', '✓')} ${task.label}${amount(task)}${note ? `  ${withoutControls(note)}` : ''}`,
        fail: reason => `${paint('failed', '✗')} ${task.label}  ${redact(reason)}`,
      })
    },
    close: () => viewer.close(),
  }
}

function follow(task: Counted, viewer: Viewer, say: Record<'done' | 'fail', (text: string) => string>): Task {
  let ended = false
  const end = (line: string) => {
    if (!ended) viewer.ended(task, `  ${line}`)
    ended = true
  }
  return {
    expect(total) {
      task.total = total
      if (!ended) viewer.moved(task)
    },
    advance(bytes) {
      task.bytes += bytes
      if (!ended) viewer.moved(task)
    },
    done: (note = '') => end(say.done(note)),
    fail: reason => end(say.fail(reason)),
  }
}

const amount = ({ bytes }: Counted): string => (bytes > 0 ? `  ${printSize(bytes)}` : '')

const plainEveryMs = 10_000

function plainViewer(screen: Screen): Viewer {
  const saidAt = new Map<Counted, number>()
  let closed = false
  const say = (line: string) => {
    if (!closed) screen.write(`${line}\n`)
  }
  return {
    began: task => void saidAt.set(task, performance.now()),
    moved(task) {
      const now = performance.now()
      if (now - (saidAt.get(task) ?? now) < plainEveryMs) return
      saidAt.set(task, now)
      say(`  ${task.label}  ${howFar(task)}`)
    },
    ended(task, line) {
      saidAt.delete(task)
      say(line)
    },
    close: () => {
      closed = true
    },
  }
}

const drawEveryMs = 80
const mostBars = 8
const barWidth = 16

function liveViewer(screen: Screen): Viewer {
  const running = new Set<Counted>()
  let drawn = 0
  let closed = false
  let timer: NodeJS.Timeout | null = null

  /** Replaces the live lines; `above` stays for good. */
  const draw = (above = '') => {
    const lines = barsOf([...running], screen.width() - 1)
    const back = drawn > 0 ? `\x1b[${drawn}A\r\x1b[J` : ''
    drawn = lines.length
    screen.write(back + above + lines.map(line => `${line}\n`).join(''))
  }
  const drawSoon = () => {
    if (timer || closed) return
    timer = setTimeout(() => {
      timer = null
      draw()
    }, drawEveryMs)
    timer.unref()
  }
  return {
    began(task) {
      running.add(task)
      drawSoon()
    },
    moved: drawSoon,
    ended(task, line) {
      running.delete(task)
      if (!closed) draw(`${line}\n`)
    },
    close() {
      if (timer) clearTimeout(timer)
      timer = null
      closed = true
      running.clear()
      if (drawn > 0) draw()
    },
  }
}

function barsOf(tasks: readonly Counted[], width: number): string[] {
  const shown = tasks.slice(0, mostBars)
  const labels = Math.max(0, ...shown.map(({ label }) => [...label].length))
  const lines = shown.map(task => `  ${task.label.padEnd(labels)}  ${bar(task)}${howFar(task)}`)
  const more = tasks.length - shown.length
  // A line that wraps would be two lines on the screen and spoil the next drawing.
  return [...lines, ...(more > 0 ? [`  and ${more} more`] : [])].map(line => [...line].slice(0, width).join(''))
}

function bar({ bytes, total }: Counted): string {
  if (!total) return ''
  const full = Math.round(Math.min(bytes / total, 1) * barWidth)
  return `▕${'█'.repeat(full)}${'░'.repeat(barWidth - full)}▏ `
}

/** `27.4 of 38.0 MB`, `812 B of 1.2 kB` */
function howFar({ bytes, total }: Counted): string {
  if (!total) return bytes > 0 ? printSize(bytes) : 'working'
  const [done = '', unit] = printSize(bytes).split(' ')
  const whole = printSize(total)
  return `${whole.endsWith(` ${unit}`) ? done : `${done} ${unit}`} of ${whole}`
}
