// The walls around the verifier and the volume manager: their own proof, and the tries of somebody inside. And the processes
// behind them: one set for all commands, gone with their supervisor, taken over by whoever still needs them.
import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type ContentLayout, contentLayoutOf } from '../../src/content/layout.ts'
import { type Isolation, processNames } from '../../src/content/messages.ts'
import { openHub } from '../../src/content/pubsub/hub.ts'
import { memoryLinks } from '../../src/content/pubsub/memory-link.ts'
import { openPeer } from '../../src/content/pubsub/open-peer.ts'
import { socketLink } from '../../src/content/pubsub/socket-link.ts'
import { realClock } from '../../src/lib/clock.ts'
import { realFiles } from '../../src/lib/files.ts'
import { sha256Hex } from '../../src/lib/json.ts'
import { type Finished, run } from '../machine/process.ts'
import { type OrdinaryUser, ordinaryUser } from '../ordinary-user.ts'
import { serveBlobs } from '../overlay/blob-server.ts'
import { describeWith } from '../require.ts'
import type { Target } from './break-out.ts'
import { type ContentMachine, commandLineOf, contentMachine, type Daemon, eventually, processesOf } from './cairn.ts'

const walled = ['verifier', 'manager'] as const
const denied = 'ERR_ACCESS_DENIED'
const proof = [denied, denied]

const breakOut = readFileSync(new URL('./break-out.ts', import.meta.url), 'utf8')
const script = ['--input-type=module-typescript', '--disable-warning=ExperimentalWarning', '--eval', breakOut]

/** Node as the process was started: with its flags, up to the file it runs. */
function nodeOf(pid: number): string[] {
  const words = commandLineOf(pid)
  return words.slice(
    0,
    words.findIndex(word => word.endsWith('/cairn.js')),
  )
}

const namespaceOf = (pid: number | 'self', kind: 'net' | 'user') => readlinkSync(`/proc/${pid}/ns/${kind}`)

/** The words that put a command where the process is. */
function inside(pid: number): string[] {
  const user = namespaceOf(pid, 'user') === namespaceOf('self', 'user') ? [] : ['--user', '--preserve-credentials']
  return ['nsenter', '--target', String(pid), '--net', ...user]
}

type Run = (command: readonly string[]) => Promise<Finished>

async function tryFrom(command: readonly string[], target: Target, as: Run = run): Promise<Record<string, string>> {
  const { code, stdout, stderr } = await as([...command, ...script, JSON.stringify(target)])
  if (code !== 0) throw new Error(`${command[0]} ended with ${code}: ${stderr}`)
  return JSON.parse(stdout)
}

const all = (outcomes: Record<string, string>, how: string) =>
  Object.fromEntries(Object.keys(outcomes).map(name => [name, how]))

const statusOf = async (answer: Promise<{ processes: Isolation[] }>) =>
  Object.fromEntries((await answer).processes.map(one => [one.process, one]))

let server: Server
let port: number
beforeAll(async () => {
  server = createServer(socket => socket.end())
  await new Promise<void>(up => server.listen(0, '127.0.0.1', up))
  port = (server.address() as AddressInfo).port
})
afterAll(() => server.close())

describeWith(['root', 'nsenter', 'unshare'], 'the verifier and the manager, as root', () => {
  let machine: ContentMachine
  let daemon: Daemon
  let target: Target
  const pidOf = (name: (typeof walled)[number]) => processesOf(machine.layout)[name][0]!
  beforeAll(async () => {
    machine = await contentMachine()
    machine.configure({ datastores: [{ host: 'registry.example', username: 'ann', password: 'canary' }] })
    process.env.CAIRN_TEST_SECRET = 'canary'
    daemon = await machine.startDaemon()
    delete process.env.CAIRN_TEST_SECRET
    await machine.cairn('volume', 'create', 'data', '--from', 'blank', '--size', '1MiB')
    target = {
      port,
      socket: join(machine.layout.run, 'agent.sock'),
      write: [join(machine.root, 'x'), join(machine.layout.pending, 'x'), join(machine.layout.requests, 'x')],
      read: [join(machine.root, 'etc/cairn/content.json'), '/etc/passwd', `/proc/${daemon.pid}/environ`],
    }
  })
  afterAll(() => machine?.dispose())

  it('prove at their start that they cannot connect, and the status shows it', async () => {
    const { verifier, manager, downloader } = await statusOf(machine.cairn('content', 'status'))
    for (const one of [verifier, manager])
      expect(one).toMatchObject({ permission: true, netns: true, checked: true, proof, insecure: false, starts: 1 })
    expect(downloader).toMatchObject({ permission: true, netns: false, checked: false })
  })

  it('have a network of their own, can gain no rights, and see nothing of the environment', () => {
    const { downloader, ...others } = processesOf(machine.layout)
    expect(namespaceOf(downloader[0]!, 'net')).toBe(namespaceOf(daemon.pid, 'net'))
    for (const [pid] of Object.values(others)) {
      expect(namespaceOf(pid!, 'net')).not.toBe(namespaceOf(daemon.pid, 'net'))
      expect(readFileSync(`/proc/${pid}/status`, 'utf8')).toMatch(/^NoNewPrivs:\t1$/m)
      expect(readFileSync(`/proc/${pid}/environ`, 'utf8')).not.toContain('canary')
      expect(commandLineOf(pid!).join(' ')).not.toContain('canary')
    }
    expect(readFileSync(`/proc/${daemon.pid}/environ`, 'utf8')).toContain('canary')
  })

  it.each(walled)('cannot connect, listen, resolve, start anything or touch what is not theirs (%s)', async name => {
    const { verified, volumes } = machine.layout
    const [own, other] = name === 'verifier' ? [verified, volumes] : [volumes, verified]
    const mine = join(own, '.mine')
    const write = [...target.write, join(other, 'x'), mine]
    const outcomes = await tryFrom([...inside(pidOf(name)), ...nodeOf(pidOf(name))], { ...target, write })
    rmSync(mine)
    expect(outcomes).toEqual({ ...all(outcomes, denied), [`write ${mine}`]: 'done' })
    expect(Object.keys(outcomes)).toHaveLength(16)
  })

  it('are kept from the network by their namespace alone, and by the flags of Node alone', async () => {
    const only = ['connect by TCP', 'send by UDP', 'look a name up', 'ask a name server']
    const [verifier, manager] = walled.map(pidOf) as [number, number]
    const [node = ''] = nodeOf(verifier)
    for (const pid of [verifier, manager]) {
      const outcomes = await tryFrom([...inside(pid), node], { ...target, only })
      expect(Object.values(outcomes)).not.toContain('done')
      expect(outcomes).toMatchObject({ 'connect by TCP': 'ENETUNREACH', 'send by UDP': 'ENETUNREACH' })
      const flags = await tryFrom(nodeOf(pid), { ...target, only })
      expect(flags).toEqual(all(flags, denied))
    }
    // Without both it can be done.
    const open = await tryFrom([node], { ...target, only: ['connect by TCP', 'send by UDP', 'connect to a socket'] })
    expect(open).toEqual(all(open, 'done'))
  })

  it('still cannot connect where no namespace can be had, and the status says which wall is missing', async () => {
    const without = await contentMachine()
    try {
      const { verifier, manager } = await statusOf(
        withoutNamespaces(without.command('content', 'status')).then(({ stdout }) => JSON.parse(stdout)),
      )
      for (const one of [verifier, manager])
        expect(one).toMatchObject({ permission: true, netns: false, checked: true, proof, insecure: false })
    } finally {
      await without.dispose()
    }
  })
})

/** In a user namespace that may have no network namespaces, as on a machine that forbids them. */
const withoutNamespaces = (command: readonly string[]) => {
  const forbid = 'echo 0 > /proc/sys/user/max_net_namespaces && exec "$@"'
  return run(['unshare', '--user', '--map-root-user', 'sh', '-c', forbid, 'sh', ...command])
}

describeWith(['nsenter', 'unshare'], 'the verifier and the manager of an ordinary user', () => {
  let user: OrdinaryUser
  let layout: ContentLayout
  let root: string
  beforeAll(async () => {
    user = await ordinaryUser()
    root = join(user.home, 'machine')
    layout = contentLayoutOf({ base: join(root, 'cairn'), run: join(root, 'run/cairn') })
  })
  afterAll(() => user?.remove())

  it('are walled in as far as the system allows, and cannot connect either way', async () => {
    const mayHaveNamespaces = (await user.run(['unshare', '--user', '--map-current-user', '--net', 'true'])).code === 0
    const daemon = user.cairn('node', 'daemon', '--root', root)
    const pids = await eventually(() => {
      const found = processesOf(layout)
      return found.verifier[0] && found.manager[0] ? [found.verifier[0], found.manager[0]] : undefined
    })
    try {
      const asked = await user.cairn('content', 'status', '--root', root, '--json')
      const { verifier, manager } = await statusOf(Promise.resolve(JSON.parse(asked.stdout)))
      for (const one of [verifier, manager])
        expect(one).toMatchObject({ permission: true, netns: mayHaveNamespaces, checked: true, proof })
      const target = { port, socket: join(layout.run, 'agent.sock'), write: [join(root, 'x')], read: ['/etc/passwd'] }
      for (const pid of pids) {
        const flags = await tryFrom(nodeOf(pid), target, user.run)
        expect(flags).toEqual(all(flags, denied))
        if (!mayHaveNamespaces) continue
        const only = ['connect by TCP', 'send by UDP']
        const outcomes = await tryFrom([...inside(pid), nodeOf(pid)[0]!], { ...target, only }, user.run)
        expect(outcomes).toEqual(all(outcomes, 'ENETUNREACH'))
      }
    } finally {
      process.kill(parentOf(pids[0]!), 'SIGTERM')
      await daemon
    }
  })
})

const parentOf = (pid: number) => Number(/^PPid:\t(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])

describe('without any wall', () => {
  let machine: ContentMachine
  beforeAll(async () => {
    machine = await contentMachine()
  })
  afterAll(() => machine?.dispose())

  it.each(walled)('the %s that ships does not start, unless it is told to', async name => {
    const { layout } = machine
    for (const directory of Object.values(layout)) mkdirSync(directory, { recursive: true })
    // The manager tells of it.
    writeFileSync(join(layout.volumes, 'local+found#1.raw'), '')
    const hub = openHub({ requests: layout.requests, files: realFiles, clock: realClock, log: () => {} })
    const [theirs, ours] = memoryLinks()
    hub.accept(theirs, { role: 'watcher' })
    const watcher = openPeer(ours)
    const calls: string[] = []
    const start = (insecure: boolean) => {
      const [cairn = ''] = machine.command()
      const main = join(cairn, '../../dist/cairn.js')
      const child = spawn(process.execPath, [main, '--content-process', name], {
        stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'ipc'],
      })
      let said = ''
      child.stderr!.on('data', chunk => (said += chunk))
      hub.accept(socketLink(child.stdio[3] as Socket), {
        role: name,
        onCall: async call => {
          calls.push(call)
          return call === 'begin' ? { layout, insecure } : null
        },
      })
      return { child, said: () => said, ended: new Promise(done => child.on('close', done)) }
    }
    try {
      const refused = start(false)
      expect(await refused.ended).toBe(1)
      expect(calls).toEqual(['begin'])
      expect(refused.said()).toMatch(
        new RegExp(`^isolation\\.missing: the ${name} can reach a network \\(ECONNREFUSED`),
      )
      const told = start(true)
      await eventually(() =>
        name === 'manager' ? watcher.all('volumeStatus').size === 1 : watcher.isComplete('verifyStatus'),
      )
      told.child.kill('SIGTERM')
      expect(await told.ended).toBe(0)
    } finally {
      hub.close()
    }
  })

  it('every status says so when it was told to run', async () => {
    const { verifier, manager } = await statusOf(machine.cairn('content', 'status', '--insecure-no-isolation'))
    expect([verifier?.insecure, manager?.insecure]).toEqual([true, true])
    const [cairn = ''] = machine.command()
    const { stdout } = await run([cairn, 'content', 'status', '--insecure-no-isolation', '--root', machine.root])
    expect(stdout.match(/NOT isolated/g)).toHaveLength(2)
  })
})

describe('one set of processes', () => {
  const bytes = { one: Buffer.from('the first'), two: Buffer.from('the second') }
  let machine: ContentMachine
  let asked: string[]
  let gates: Record<keyof typeof bytes, PromiseWithResolvers<void>>
  let files: Awaited<ReturnType<typeof serveBlobs>>
  beforeEach(async () => {
    machine = await contentMachine()
    asked = []
    gates = { one: Promise.withResolvers(), two: Promise.withResolvers() }
    const gated =
      (name: keyof typeof bytes): RequestListener =>
      async (_, response) => {
        asked.push(name)
        await gates[name].promise
        response.writeHead(200, { 'content-length': bytes[name].length }).end(bytes[name])
      }
    files = await serveBlobs({ one: gated('one'), two: gated('two') })
  })
  afterEach(async () => {
    await files.close()
    await machine.dispose()
  })

  const pull = (name: keyof typeof bytes) =>
    machine.cairn<{ state: string }>('content', 'pull', files.url(name), '--digest', sha256Hex(bytes[name]))
  const count = (name: string) => asked.filter(one => one === name).length
  const pids = () => processesOf(machine.layout)

  it('serves two commands at once, and the one that stays takes over when the other ends', async () => {
    const first = pull('one')
    await eventually(() => count('one') === 1)
    const second = pull('two')
    await eventually(() => count('two') === 1)
    const before = pids()
    for (const name of processNames) expect(before[name]).toHaveLength(1)
    gates.one.resolve()
    expect(await first).toMatchObject({ state: 'verified' })
    await eventually(() => count('two') === 2)
    const after = pids()
    for (const name of processNames) {
      expect(after[name]).toHaveLength(1)
      expect(after[name]).not.toEqual(before[name])
    }
    gates.two.resolve()
    expect(await second).toMatchObject({ state: 'verified' })
    expect(pids()).toEqual({ downloader: [], verifier: [], manager: [] })
  })

  it('ends with a supervisor that is killed, and a command that needs it goes on with its own', async () => {
    const daemon = await machine.startDaemon()
    const pulled = pull('one')
    await eventually(() => count('one') === 1)
    const before = pids()
    await daemon.kill()
    await eventually(() =>
      Object.values(before)
        .flat()
        .every(pid => commandLineOf(pid).length === 0),
    )
    await eventually(() => count('one') === 2)
    gates.one.resolve()
    expect(await pulled).toMatchObject({ state: 'verified' })
  })

  it('is not started twice: a second daemon waits, and takes over', async () => {
    const first = await machine.startDaemon()
    const [cairn = ''] = machine.command()
    const second = spawn(cairn, ['node', 'daemon', '--root', machine.root], { stdio: ['ignore', 'ignore', 'pipe'] })
    let said = ''
    second.stderr.on('data', chunk => (said += chunk))
    const ended = new Promise(done => second.on('close', done))
    try {
      await eventually(() => said.includes('Another supervisor runs here already'))
      const before = pids()
      for (const name of processNames) expect(before[name]).toHaveLength(1)
      await first.stop()
      await eventually(() =>
        processNames.every(name => pids()[name].length === 1 && pids()[name][0] !== before[name][0]),
      )
    } finally {
      second.kill('SIGTERM')
    }
    expect(await ended).toBe(0)
  })
})
