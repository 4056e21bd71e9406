import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { realFiles } from '../../lib/files.ts'
import { contentLayoutOf } from '../layout.ts'
import { openHub } from '../pubsub/hub.ts'
import { until } from '../pubsub/pubsub.fake.ts'
import { steppedClock } from '../pubsub/stepped-clock.fake.ts'
import { encode, protocol } from '../pubsub/wire.ts'
import { keepRunning } from './keep-running.ts'

/** A program that sends these frames, and from then on hangs. */
const hanging = (frames: readonly Buffer[]) => {
  const bytes = frames.flatMap(frame => {
    const header = Buffer.alloc(4)
    header.writeUInt32BE(frame.length)
    return [header, frame]
  })
  const text = JSON.stringify(Buffer.concat(bytes).toString('base64'))
  return `require('fs').writeSync(3, Buffer.from(${text}, 'base64')); console.log('up'); setInterval(() => {}, 1000)`
}

const report = { process: 'verifier', pid: 1, permission: false, checked: false, proof: [] }
const signOfLife = [
  encode({ do: 'hello', protocol, session: 's' }),
  encode({ do: 'call', id: 1, name: 'begin', args: report }),
]

for (const { title, frames, beats } of [
  { title: 'that has missed three heartbeats', frames: signOfLife, beats: 4 },
  { title: 'that never gave a sign of life, after a minute', frames: [], beats: 12 },
])
  it(`kills a process ${title}, and starts it again`, async () => {
    const base = mkdtempSync(join(tmpdir(), 'cairn-keep-'))
    const clock = steppedClock()
    const log: string[] = []
    const hub = openHub({ requests: base, files: realFiles, clock, log: line => log.push(line) })
    const ends: string[] = []
    let begins = 0
    const kept = keepRunning({
      name: 'verifier',
      command: { program: process.execPath, args: ['-e', hanging(frames)], env: {} },
      layout: contentLayoutOf({ base, run: base }),
      insecure: false,
      downloaderUid: undefined,
      containerd: undefined,
      hub,
      clock,
      log: line => void log.push(line),
      onBegin: () => void begins++,
      onEnd: health => void ends.push(health),
    })
    const ups = () => log.filter(line => line === 'verifier: up').length
    try {
      await until(() => ups() === 1 && begins === (frames.length > 0 ? 1 : 0))
      for (let beat = 1; beat < beats; beat++) await clock.advance(5000)
      expect(log.some(line => line.includes('heartbeats'))).toBe(false)
      await clock.advance(5000)
      await until(() => ends.length === 1)
      expect(log.some(line => line.includes('SIGKILL'))).toBe(true)
      await clock.advance(200)
      await until(() => ups() === 2)
    } finally {
      await kept.stop()
      hub.close()
      rmSync(base, { recursive: true })
    }
  })
