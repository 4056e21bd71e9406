// Processes that are started one by one beside a supervisor that only waits for them, as units of systemd would be.
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type ContentLayout, contentLayoutOf } from '../../src/content/layout.ts'
import { type ProcessName, processNames } from '../../src/content/messages.ts'
import { until } from '../../src/content/pubsub/pubsub.fake.ts'
import { launchProcess } from '../../src/content/supervisor/launcher.ts'
import { findLayers } from '../../src/content/supervisor/layers.ts'
import { type Supervisor, startSupervisor } from '../../src/content/supervisor/supervisor.ts'
import { realClock } from '../../src/lib/clock.ts'

const self = [
  process.execPath,
  fileURLToPath(new URL('../../src/content/supervisor/processes.fake.ts', import.meta.url)),
]
const hasty = { ...realClock, sleep: (ms: number, signal?: AbortSignal) => realClock.sleep(Math.min(ms, 100), signal) }

let base: string
let layout: ContentLayout
let log: string[]
let supervisor: Supervisor | null
let stops: AbortController[]
let ends: Promise<number>[]
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'cairn-launch-'))
  layout = contentLayoutOf({ base, run: join(base, 'run') })
  log = []
  supervisor = null
  stops = []
  ends = []
})
afterEach(async () => {
  for (const stop of stops) stop.abort()
  await Promise.all(ends)
  await supervisor?.stop()
  rmSync(base, { recursive: true, force: true })
})

const supervise = async () => {
  const line = (text: string) => void log.push(text)
  supervisor = await startSupervisor({ layout, self, clock: realClock, units: true, log: line })
  return supervisor
}

const launch = (name: ProcessName, containerd?: string) => {
  const stop = new AbortController()
  const say = (line: string) => void log.push(line)
  const ended = launchProcess({ name, layout, self, clock: hasty, containerd, log: say, signal: stop.signal })
  stops.push(stop)
  ends.push(ended)
  return { stop: () => stop.abort(), ended }
}

const isolationOf = (name: ProcessName) => supervisor?.hub.read('isolation').get(name)
const lives = () => [...(supervisor?.hub.read('verifyStatus').values() ?? [])].map(({ size }) => size)
const triedAll = () => log.filter(line => line === 'verifier: tried all').length

it('wait for their supervisor, join it walled in, and get the runtime', async () => {
  const runtime = createServer(socket => socket.end('hello from the runtime'))
  await new Promise<void>(done => runtime.listen(join(base, 'containerd.sock'), done))
  const launched = processNames.map(name => launch(name, join(base, 'containerd.sock')))
  await until(() => log.filter(line => line.includes('waits for its supervisor')).length === 3)
  await supervise()
  await until(() => log.filter(line => line.includes('tried all')).length === 3)
  runtime.close()

  const netns = (await findLayers()).netns !== null
  for (const name of ['verifier', 'manager'] as const)
    expect(isolationOf(name)).toMatchObject({ permission: true, checked: true, netns, health: 'running', starts: 1 })
  expect(isolationOf('downloader')).toMatchObject({ permission: true, checked: false, netns: false, health: 'running' })
  expect(log).toContain('manager: runtime: hello from the runtime')
  expect(log).toContain('verifier: connect: ERR_ACCESS_DENIED')

  for (const { stop } of launched) stop()
  expect(await Promise.all(launched.map(({ ended }) => ended))).toEqual([0, 0, 0])
})

it('end with their process, so that somebody starts them again', async () => {
  await supervise()
  const { ended } = launch('verifier')
  await until(() => lives().length === 1)
  process.kill(lives()[0]!, 'SIGKILL')
  expect(await ended).toBe(1)
  await until(() => isolationOf('verifier')?.health === 'restarting')
  launch('verifier')
  await until(() => isolationOf('verifier')?.starts === 2)
})

it('end a process that hangs when it has lost its channel', async () => {
  await supervise()
  const hung = launch('verifier')
  await until(() => lives().length === 1)
  const [pid] = lives()
  process.kill(pid!, 'SIGSTOP')
  launch('verifier')
  expect(await hung.ended).toBe(1)
  expect(() => process.kill(pid!, 0)).toThrow('ESRCH')
  await until(() => triedAll() === 2 && isolationOf('verifier')?.health === 'running')
})

it('end with their supervisor', async () => {
  await supervise()
  const { ended } = launch('verifier')
  await until(() => lives().length === 1)
  await supervisor!.stop()
  supervisor = null
  expect(await ended).toBe(1)
})
