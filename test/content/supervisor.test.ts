// The real supervisor with real processes: the programs in processes.fake.ts try to get through their walls.
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync } from 'node:fs'
import type { Socket } from 'node:net'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type ContentLayout, contentLayoutOf } from '../../src/content/layout.ts'
import { openHub } from '../../src/content/pubsub/hub.ts'
import { aContentConfig, until } from '../../src/content/pubsub/pubsub.fake.ts'
import { socketLink } from '../../src/content/pubsub/socket-link.ts'
import { connectTo } from '../../src/content/supervisor/connect.ts'
import { findLayers } from '../../src/content/supervisor/layers.ts'
import { openService } from '../../src/content/supervisor/service.ts'
import { startSupervisor } from '../../src/content/supervisor/supervisor.ts'
import { realClock } from '../../src/lib/clock.ts'
import { realFiles } from '../../src/lib/files.ts'
import { findProgram } from '../../src/lib/run.ts'

const entry = fileURLToPath(new URL('../../src/content/supervisor/processes.fake.ts', import.meta.url))
const self = [process.execPath, entry]

let base: string
let layout: ContentLayout
let log: string[]
beforeEach(() => {
  // Deeper than the path of a socket may be.
  base = mkdtempSync(join(tmpdir(), `cairn-supervisor-${'x'.repeat(90)}-`))
  layout = contentLayoutOf({ base, run: join(base, 'run') })
  log = []
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

const options = () => ({ layout, self, clock: realClock, log: (line: string) => void log.push(line) })
const triedAll = (process: string) => until(() => log.includes(`${process}: tried all`))
const outcomes = (process: string) =>
  Object.fromEntries(
    log.flatMap(line => {
      const [, name, how] = new RegExp(`^${process}: ([^:]+): (.*)$`).exec(line) ?? []
      return name ? [[name, how]] : []
    }),
  )

describe('the supervisor', () => {
  it('walls its processes in, syncs for them, and tells which walls hold', async () => {
    mkdirSync(layout.verifier, { recursive: true })
    symlinkSync('/etc/hostname', join(layout.verifier, 'link'))
    const runtime = createServer(socket => socket.end('hello from the runtime'))
    const runtimeSocket = join(mkdtempSync(join(tmpdir(), 'cairn-')), 'containerd.sock')
    await new Promise<void>(done => runtime.listen(runtimeSocket, done))
    process.env.CAIRN_TEST_SECRET = 'canary'
    const supervisor = await startSupervisor({ ...options(), containerd: runtimeSocket })
    try {
      await Promise.all(['downloader', 'verifier', 'manager'].map(triedAll))
      const denied = 'ERR_ACCESS_DENIED'
      expect(outcomes('verifier')).toEqual({
        connect: denied,
        'connect to a socket file': denied,
        listen: denied,
        'listen on a socket file': denied,
        resolve: denied,
        'write pending': denied,
        'write volumes': denied,
        'read elsewhere': denied,
        'read pending': 'done',
        'see secrets': 'none',
        'sync a file': 'done',
        'sync a directory': 'done',
        'sync a link': 'call.refused',
        'sync a way out': 'call.refused',
        'sync elsewhere': 'call.refused',
        'sync what is not there': 'sync.failed',
      })
      expect(outcomes('downloader')).toEqual({
        'write pending': 'done',
        'write verified': denied,
        'read elsewhere': existsSync('/etc/hostname') ? 'done' : 'ENOENT',
        'ask for mkfs': 'call.refused',
      })
      expect(outcomes('manager')).toEqual({
        connect: denied,
        'read verified': 'done',
        'write verified': denied,
        symlink: 'call.refused',
        mkfs: findProgram('mkfs.ext4') ? 'done' : 'program.missing',
        'mkfs elsewhere': 'call.refused',
        "mount what is not the runtime's": 'call.refused',
        'unmount nothing': 'done',
        'flush the file system': 'done',
        runtime: 'hello from the runtime',
      })

      const watcher = (await connectTo(layout, 'watcher'))!
      await until(() => watcher.isComplete('isolation'))
      const netns = (await findLayers()).netns !== null
      const walled = { permission: true, netns, checked: true, proof: [denied, denied], health: 'running', starts: 1 }
      expect(watcher.all('isolation').get('verifier')).toMatchObject(walled)
      expect(watcher.all('isolation').get('manager')).toMatchObject(walled)
      expect(watcher.all('isolation').get('downloader')).toMatchObject({
        permission: true,
        netns: false,
        checked: false,
      })
      const mode = (name: string) => statSync(join(layout.run, name)).mode & 0o777
      expect([mode('agent.sock'), mode('status.sock')]).toEqual([0o600, 0o660])
    } finally {
      delete process.env.CAIRN_TEST_SECRET
      await supervisor.stop()
      runtime.close()
      rmSync(join(runtimeSocket, '..'), { recursive: true })
    }
    expect(readdirSync(layout.run).filter(name => name !== 'supervisor.lock')).toEqual([])
    expect(await connectTo(layout, 'watcher')).toBeNull()
  })

  it('starts a killed process again, and its readers hear the new set', async () => {
    const supervisor = await startSupervisor(options())
    try {
      const watcher = supervisor.connect('watcher')
      const pids = () => [...watcher.all('verifyStatus').values()].map(({ size }) => size)
      await until(() => pids().length === 1 && watcher.all('isolation').size === 3)
      const [first] = pids()
      process.kill(first!, 'SIGKILL')
      await until(() => pids().length === 1 && pids()[0] !== first)
      await until(() => watcher.all('isolation').get('verifier')?.starts === 2)
      expect(log.some(line => line.includes('SIGKILL'))).toBe(true)
    } finally {
      await supervisor.stop()
    }
  })

  it('takes its processes with it when it is killed, and a command takes over what it did', async () => {
    const other = spawn(process.execPath, [entry, '--supervise', base], { stdio: ['ignore', 'ignore', 'inherit'] })
    await until(() => existsSync(join(layout.run, 'agent.sock')))
    const service = await openService(options())
    try {
      expect(service.owned).toBe(false)
      const { peer } = service
      const pids = () => [...peer.all('verifyStatus').values()].map(({ size }) => size)
      await until(() => pids().length === 1)
      const [orphan] = pids()
      peer.publish('contentConfig', 'packages/a', aContentConfig('a'))
      peer.publish('contentConfig', 'packages/b', aContentConfig('b'), { keep: true })
      await until(() => peer.all('contentConfig').size === 2)
      await killed(other)
      await until(() => !isAlive(orphan!))
      await until(() => service.owned && pids().length === 1 && pids()[0] !== orphan)
      await until(() => peer.all('contentConfig').size === 2)
    } finally {
      await service.close()
    }
    const later = await openService(options())
    expect(later.owned).toBe(true)
    expect([...later.peer.all('contentConfig').keys()]).toEqual(['packages/b'])
    await later.close()
  })

  it("runs once for a store: a second command uses the first one's, and follows when it ends", async () => {
    const first = await openService(options())
    const second = await openService(options())
    expect([first.owned, second.owned]).toEqual([true, false])
    await expect(startSupervisor(options())).rejects.toMatchObject({ code: 'lock.busy' })
    second.peer.publish('contentConfig', 'packages/a', aContentConfig('a'))
    await first.close()
    await until(() => second.owned && second.peer.all('contentConfig').has('packages/a'))
    await second.close()
  })
})

it('a process does not start where it can reach a network, unless it is told to', async () => {
  mkdirSync(layout.requests, { recursive: true })
  mkdirSync(layout.verifier, { recursive: true })
  const hub = openHub({ requests: layout.requests, files: realFiles, clock: realClock, log: () => {} })
  const startUnwalled = (insecure: boolean) => {
    const child = spawn(process.execPath, [entry, '--content-process', 'verifier'], {
      stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    })
    let said = ''
    child.stderr!.on('data', chunk => {
      said += chunk
    })
    hub.accept(socketLink(child.stdio[3] as Socket), {
      role: 'verifier',
      onCall: async name => (name === 'begin' ? { layout, insecure } : undefined),
    })
    return { child, said: () => said }
  }
  const refused = startUnwalled(false)
  expect(await new Promise(done => refused.child.on('close', done))).toBe(1)
  expect(refused.said()).toMatch(/^isolation\.missing: the verifier can reach a network \(ECONNREFUSED\)/)
  const told = startUnwalled(true)
  await until(() => told.said().includes('tried all'))
  told.child.kill('SIGTERM')
  expect(await new Promise(done => told.child.on('close', done))).toBe(0)
  hub.close()
})

const killed = (child: ChildProcess) =>
  new Promise<void>(done => {
    child.on('exit', () => done())
    child.kill('SIGKILL')
  })

const isAlive = (pid: number) => existsSync(`/proc/${pid}/fd`)
