// What the processes of a running daemon take: memory at rest and at most, and bytes written for each byte of content.
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { printSize } from '../../src/lib/size.ts'
import { runUnmeasured } from '../lib/command.ts'
import type { SeriesResult } from '../lib/rounds.ts'
import type { Machine } from './cairn.ts'
import type { BenchImage } from './images.ts'
import { seriesOf } from './names.ts'

export interface Memory extends SeriesResult {
  readonly nodeBytes: number
  /** By process. */
  readonly idleBytes: Readonly<Record<string, number>>
  readonly peakBytes: Readonly<Record<string, number>>
  readonly writtenPerByte: number
}

export async function measureMemory(machine: Machine, image: BenchImage): Promise<Memory> {
  machine.begin()
  machine.startDaemon()
  try {
    await setTimeout(3000)
    const pids = Object.entries(machine.processes())
    const of = (read: (pid: number) => number) => Object.fromEntries(pids.map(([name, pid]) => [name, read(pid)]))
    const idleBytes = of(pid => statusBytes(pid, 'VmRSS'))
    const before = of(writtenBytes)
    runUnmeasured(machine.command('', 'content', 'pull', image.reference))
    const after = of(writtenBytes)
    const peakBytes = of(pid => statusBytes(pid, 'VmHWM'))
    const written = Object.keys(after).reduce((sum, name) => sum + (after[name] ?? 0) - (before[name] ?? 0), 0)
    const nodeBytes = await idleNode()
    const sizes = (bytes: Readonly<Record<string, number>>) =>
      Object.entries(bytes)
        .map(([name, size]) => `${name} ${printSize(size)}`)
        .join(', ')
    return {
      series: seriesOf.memory,
      files: 0,
      steps: [],
      remarks: [
        `At rest: ${sizes(idleBytes)}; a Node that does nothing: ${printSize(nodeBytes)}.`,
        `At most, after a pull of ${image.title}: ${sizes(peakBytes)}.`,
        `${(written / image.bytes).toFixed(2)} bytes were written for each byte of content (pending and verified; as the processes asked the system to, messages included).`,
      ],
      nodeBytes,
      idleBytes,
      peakBytes,
      writtenPerByte: written / image.bytes,
    }
  } finally {
    machine.stopDaemon()
  }
}

async function idleNode(): Promise<number> {
  const node = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60_000)'], { stdio: 'ignore' })
  await setTimeout(1000)
  const bytes = statusBytes(node.pid ?? 0, 'VmRSS')
  node.kill()
  return bytes
}

function statusBytes(pid: number, field: 'VmRSS' | 'VmHWM'): number {
  const [, kilobytes] =
    new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kilobytes) * 1024
}

const writtenBytes = (pid: number) => Number(/^wchar: (\d+)/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1])
