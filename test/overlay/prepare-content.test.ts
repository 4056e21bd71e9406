// Prepare and the content processes: started for the time of a command or joined where they run, ended with it however it
// ends, and out of the way of a purge.
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { removeTree } from '../../src/lib/durable.ts'
import { realFiles } from '../../src/lib/files.ts'
import { sha256Hex } from '../../src/lib/json.ts'
import { type ContentMachine, contentMachine, eventually, processesOf } from '../content/cairn.ts'
import { run } from '../machine/process.ts'
import { type BlobServer, serveBlobs } from './blob-server.ts'

const mebibyte = 2 ** 20
const large = randomBytes(20 * mebibyte)
/** So much comes before the server falls silent; so much of it is on disk for good. */
const first = 12 * mebibyte
const synced = 8 * mebibyte

let machine: ContentMachine
let server: BlobServer
/** Ends the silence of the server, for those who wait and for those who come. */
let speak: () => void
let running: ChildProcess[]
/** Where each answer began. */
let starts: number[]

beforeAll(async () => {
  // The bundle is made once, and not while a test waits for it.
  await (await contentMachine()).dispose()
})
beforeEach(async () => {
  machine = await contentMachine()
  running = []
  starts = []
  const { promise: spoken, resolve } = Promise.withResolvers<void>()
  speak = resolve
  server = await serveBlobs({
    large: (request, response) => {
      const start = Number(/^bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1] ?? 0)
      starts.push(start)
      const range = { 'content-range': `bytes ${start}-${large.length - 1}/${large.length}` }
      response.writeHead(start > 0 ? 206 : 200, { 'content-length': large.length - start, ...(start > 0 && range) })
      response.write(large.subarray(start, first))
      spoken.then(() => response.end(large.subarray(Math.max(start, first))))
    },
  })
  machine.write('overlay.json', JSON.stringify(configOf(`sha256:${sha256Hex(large)}`)))
})
afterEach(async () => {
  for (const child of running) child.kill('SIGKILL')
  await server.close()
  await machine.dispose()
})

const configOf = (checksum: string) => ({
  version: 'v1',
  packageByNames: {
    large: { version: '1', source: { type: 'url', uri: server.url('large'), checksum } },
    small: { version: '1', source: { type: 'inline', content: 'small\n' } },
  },
})

/** Prepare, on its way: the server has fallen silent, and what came is on disk as far as it ever is. */
async function prepareUntilSilent() {
  const words = machine.command('node', 'prepare', '-f', join(machine.root, '../overlay.json'))
  const child = spawn(words[0]!, words.slice(1), { stdio: 'ignore', detached: true })
  const ended = new Promise<NodeJS.Signals | number>(done =>
    child.on('exit', (code, signal) => done(signal ?? code ?? -1)),
  )
  running.push(child)
  await eventually(() => recorded() >= synced)
  return { pid: child.pid!, ended }
}

/** Up to where a download is on disk for good, by its own record; 0 before there is one. */
function recorded(): number {
  const names = existsSync(machine.layout.pending) ? machine.names('pending') : []
  const record = names.find(name => name.endsWith('.progress') && !name.startsWith('.'))
  return record ? JSON.parse(readFileSync(join(machine.layout.pending, record), 'utf8')).offset : 0
}

const prepare = () => machine.cairn('node', 'prepare', '-f', join(machine.root, '../overlay.json'))
const processes = () => Object.values(processesOf(machine.layout)).flat().sort()
const haveEnded = () => eventually(() => processes().length === 0)

async function finishes() {
  speak()
  expect(await prepare()).toMatchObject({ version: 'v1' })
  expect([machine.names('pending'), machine.names('verified')]).toEqual([[], []])
  await machine.cairn('node', 'verify')
  await haveEnded()
}

describe('a prepare without a daemon', () => {
  it('has processes of its own, which end with it', async () => {
    const { pid, ended } = await prepareUntilSilent()
    expect(Object.values(processesOf(machine.layout)).map(({ length }) => length)).toEqual([1, 1, 1])
    process.kill(pid, 'SIGTERM')
    expect(await ended).toBe('SIGTERM')
    await haveEnded()
  })

  it.each([
    ['killed', 'SIGKILL'],
    ['interrupted', 'SIGINT'],
  ] as const)('that is %s takes them along, and the next one goes on from what came', async (_, signal) => {
    const { pid, ended } = await prepareUntilSilent()
    // To all of its group, as a terminal does it.
    process.kill(-pid, signal)
    expect(await ended).toBe(signal)
    await haveEnded()
    await finishes()
    expect(starts).toEqual([0, expect.toSatisfy((start: number) => start >= synced && start <= first)])
  })

  it('is not disturbed when one of them is killed', async () => {
    const { ended } = await prepareUntilSilent()
    const { downloader, verifier, manager } = processesOf(machine.layout)
    speak()
    for (const [pid] of [verifier, manager, downloader]) process.kill(pid!, 'SIGKILL')
    expect(await ended).toBe(0)
    expect([machine.names('pending'), machine.names('verified')]).toEqual([[], []])
    await haveEnded()
  })
})

describe('a prepare beside a daemon', () => {
  it('has the same processes as the daemon, and leaves them running', async () => {
    const daemon = await machine.startDaemon()
    await eventually(() => processes().length === 3)
    const before = processes()
    const { pid, ended } = await prepareUntilSilent()
    expect(processes()).toEqual(before)
    process.kill(pid, 'SIGINT')
    expect(await ended).toBe('SIGINT')
    speak()
    expect(await prepare()).toMatchObject({ version: 'v1' })
    expect(starts).toEqual([0])
    expect(processes()).toEqual(before)
    await daemon.stop()
    await haveEnded()
  })

  it('that is killed in the middle goes on with processes of its own', async () => {
    const daemon = await machine.startDaemon()
    const { ended } = await prepareUntilSilent()
    speak()
    await daemon.kill()
    expect(await ended).toBe(0)
    await haveEnded()
  })
})

describe('a purge', () => {
  const uninstall = () => run(machine.command('node', 'uninstall', '--purge', '--yes'))
  const answers = async () => {
    const { code, stdout } = await uninstall()
    return { code, said: JSON.parse(stdout) }
  }

  it('is refused while there are volumes, and while the processes run; then it takes everything', async () => {
    speak()
    await machine.cairn('node', 'apply', '-f', join(machine.root, '../overlay.json'))
    await machine.cairn('volume', 'create', 'data', '--from', 'blank', '--size', '1MiB')
    expect(machine.names('volumes')).toHaveLength(1)
    expect(await answers()).toMatchObject({
      code: 4,
      said: { error: { code: 'volume.data-loss', message: expect.stringContaining('data') } },
    })
    expect(await machine.cairn('node', 'status')).toMatchObject({ generation: 1, drift: [] })
    expect(machine.names('volumes')).toHaveLength(1)
    await machine.cairn('volume', 'rm', 'data', '--allow-data-loss')

    const daemon = await machine.startDaemon()
    expect(await answers()).toMatchObject({ code: 4, said: { error: { code: 'lock.busy' } } })
    await daemon.stop()
    expect(await answers()).toMatchObject({ code: 0, said: { outcome: 'applied' } })
    expect(readdirSync(machine.root)).toEqual(['etc'])
    removeTree(realFiles, machine.root)
  })
})
