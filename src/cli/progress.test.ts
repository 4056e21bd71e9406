import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { fakeTerminal } from '../lib/terminal.fake.ts'
import { showProgress } from './progress.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** What a terminal shows after these writes: understands moving up and clearing below, as the live lines use them. */
function screenOf(written: string): string[] {
  let lines: string[] = ['']
  for (const part of written.split(/(\x1b\[\d+A\r\x1b\[J)/)) {
    const up = /^\x1b\[(\d+)A/.exec(part)
    if (up) lines = [...lines.slice(0, -1 - Number(up[1])), '']
    else {
      const [first = '', ...more] = part.split('\n')
      lines = [...lines.slice(0, -1), lines.at(-1) + first, ...more]
    }
  }
  return lines.slice(0, -1)
}

describe('on a terminal', () => {
  const live = (width = 80) => {
    const { err, printed } = fakeTerminal({ live: true, width })
    return { progress: showProgress(err), shown: () => screenOf(printed.err), printed }
  }

  it('shows a bar for each task at once, and a line for good when one is done', () => {
    const { progress, shown } = live()
    const runc = progress.begin('runc', 10_000_000)
    const containerd = progress.begin('containerd')
    runc.advance(5_000_000)
    containerd.advance(1_000_000)
    vi.advanceTimersByTime(100)
    expect(shown()).toEqual(['  runc        ▕████████░░░░░░░░▏ 5.0 of 10.0 MB', '  containerd  1.0 MB'])
    containerd.expect(4_000_000)
    runc.advance(5_000_000)
    runc.done('verified')
    expect(shown()).toEqual(['  ✓ runc  10.0 MB  verified', '  containerd  ▕████░░░░░░░░░░░░▏ 1.0 of 4.0 MB'])
    containerd.fail('connection lost')
    expect(shown()).toEqual(['  ✓ runc  10.0 MB  verified', '  ✗ containerd  connection lost'])
  })

  it('draws at most once in 80 ms, however often the work moves', () => {
    const { progress, printed } = live()
    const task = progress.begin('runc', 1000)
    for (let step = 0; step < 1000; step++) task.advance(1)
    expect(printed.err).toBe('')
    vi.advanceTimersByTime(1000)
    expect(printed.err.split('\n')).toHaveLength(2)
  })

  it('takes its lines away when it is closed, and shows nothing after', () => {
    const { progress, shown } = live()
    const task = progress.begin('runc', 1000)
    vi.advanceTimersByTime(100)
    expect(shown()).toHaveLength(1)
    progress.close()
    expect(shown()).toEqual([])
    task.advance(10)
    task.done()
    vi.advanceTimersByTime(1000)
    expect(shown()).toEqual([])
  })

  it('keeps each bar on one line, and counts those it has no room for', () => {
    const { progress, shown } = live(30)
    for (let task = 0; task < 12; task++) progress.begin(`package-with-a-long-name-${task}`, 1000)
    vi.advanceTimersByTime(100)
    expect(shown()).toHaveLength(9)
    for (const line of shown()) expect(line.length).toBeLessThan(30)
    expect(shown().at(-1)).toBe('  and 4 more')
  })
})

describe('elsewhere', () => {
  it('prints a line when a task ends, and for a long one every ten seconds', () => {
    const { err, printed } = fakeTerminal()
    const progress = showProgress(err)
    const task = progress.begin('runc', 10_000_000)
    for (let second = 0; second < 25; second++) {
      vi.advanceTimersByTime(1000)
      task.advance(100_000)
    }
    task.done()
    expect(printed.err.split('\n')).toEqual([
      '  runc  1.0 of 10.0 MB',
      '  runc  2.0 of 10.0 MB',
      '  ✓ runc  2.5 MB',
      '',
    ])
  })

  it('lets a label or a reason from outside neither move the cursor nor tell a credential', () => {
    const { err, printed } = fakeTerminal()
    showProgress(err).begin('ru\x1b[2Jnc').fail('GET https://u:hunter2@host.example failed\x07')
    expect(printed.err).toBe('  ✗ runc  GET https://host.example failed\n')
  })
})
