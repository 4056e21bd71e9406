// A real containerd with a root, a state and a socket of its own, which nobody else on the machine sees.
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { findProgram, run } from '../../src/lib/run.ts'

export interface RealContainerd {
  readonly address: string
  /** Null while it does not run. */
  connect(): Promise<Socket | null>
  /** A connection that stops to carry what is sent after so many bytes, as if everything had become very slow. */
  connectSlow(after: number): SlowConnection
  /** `ctr` in the namespace cairn; what it prints. */
  ctr(...args: string[]): Promise<string>
  start(): Promise<void>
  kill(signal?: NodeJS.Signals): Promise<void>
  /** Kills it and removes all it had. */
  dispose(): Promise<void>
}

export interface SlowConnection {
  connect(): Promise<Socket | null>
  readonly stopped: Promise<void>
  goOn(): void
}

export interface ContainerdOptions {
  readonly disabledPlugins?: readonly string[]
}

export async function startContainerd({ disabledPlugins = [] }: ContainerdOptions = {}): Promise<RealContainerd> {
  const base = mkdtempSync(join(tmpdir(), 'cairn-containerd-'))
  const address = join(base, 'containerd.sock')
  const config = join(base, 'config.toml')
  const disabled = ['io.containerd.grpc.v1.cri', ...disabledPlugins].map(plugin => JSON.stringify(plugin))
  for (const directory of ['root', 'state']) mkdirSync(join(base, directory))
  writeFileSync(
    config,
    `version = 2
root = "${join(base, 'root')}"
state = "${join(base, 'state')}"
disabled_plugins = [${disabled.join(', ')}]
[grpc]
  address = "${address}"
`,
  )
  let child: ChildProcess | null = null
  let output = ''

  const containerd: RealContainerd = {
    address,
    connect: () => connected(address),
    connectSlow: after => slowConnection(address, after),
    async ctr(...args) {
      const { code, stdout, stderr } = await run(findProgram('ctr')!, ['-a', address, '-n', 'cairn', ...args])
      if (code !== 0) throw new Error(`ctr ${args.join(' ')}: ${stderr}`)
      return stdout
    },
    async start() {
      const started = spawn(findProgram('containerd')!, ['--config', config, '--log-level', 'warn'], {
        stdio: ['ignore', 'ignore', 'pipe'],
      })
      child = started
      started.stderr.on('data', chunk => (output += chunk))
      for (const until = Date.now() + 60_000; Date.now() < until; await setTimeout(50)) {
        if (started.exitCode !== null) break
        const ready = await run(findProgram('ctr')!, ['-a', address, '--connect-timeout', '1s', 'version'])
        if (ready.code === 0) return
      }
      throw new Error(`containerd did not start: ${output}`)
    },
    async kill(signal = 'SIGKILL') {
      const running = child
      child = null
      if (!running || running.exitCode !== null) return
      const exited = once(running, 'exit')
      running.kill(signal)
      await exited
    },
    async dispose() {
      await containerd.kill('SIGTERM')
      const mounts = readFileSync('/proc/self/mountinfo', 'utf8').split('\n')
      for (const mount of mounts.map(line => line.split(' ')[4] ?? '').reverse())
        if (mount.startsWith(`${base}/`)) await run(findProgram('umount')!, [mount])
      rmSync(base, { recursive: true, force: true })
    },
  }
  await containerd.start()
  return containerd
}

/** Paused: what containerd says first is for whoever the socket is handed to. */
const connected = (address: string) =>
  new Promise<Socket | null>(done => {
    const socket = new Socket().pause().connect(address)
    socket.once('connect', () => done(socket))
    socket.once('error', () => done(null))
  })

function slowConnection(address: string, after: number): SlowConnection {
  const stopped = Promise.withResolvers<void>()
  const goOn = Promise.withResolvers<void>()
  const between = `${address}.${randomBytes(4).toString('hex')}`
  const server = createServer(client => {
    server.close()
    const upstream = connect(address)
    upstream.pipe(client)
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const)
      one.on('error', () => {}).on('close', () => other.destroy())
    let carried = 0
    client.on('data', chunk => {
      upstream.write(chunk)
      carried += chunk.length
      if (carried < after) return
      client.pause()
      stopped.resolve()
      goOn.promise.then(() => client.resume())
    })
  })
  return {
    async connect() {
      await new Promise<void>(ready => server.listen(between, ready))
      return connected(between)
    },
    stopped: stopped.promise,
    goOn: goOn.resolve,
  }
}
