// A real control plane: the bundle that ships, run by `cairn up` on loopback, over SQLite or over a PostgreSQL of its own.
// The port is chosen at the first start and kept, so that clients live through restarts.
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { createConnection } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout } from 'node:timers/promises'
import { removeTree } from '../../src/lib/durable.ts'
import { realFiles } from '../../src/lib/files.ts'
import { Secret } from '../../src/lib/redact.ts'
import { type Client, createClient } from '../../src/server/client.ts'
import { databaseFileIn, keyFileIn } from '../../src/server/database/data-directory.ts'
import { buildOnce, install } from '../machine/bundle.ts'
import { type Finished, type RunOptions, run } from '../machine/process.ts'
import { type RealPostgres, startPostgres } from '../server/postgres.ts'

export const databases = ['sqlite', 'postgres'] as const
export type DatabaseKind = (typeof databases)[number]

export interface Ground {
  /** An empty directory, gone with the ground. */
  readonly directory: string
  readonly postgres: RealPostgres | null
  startServer(options?: ServerOptions): Promise<TestServer>
  /** The command line without a server: no CAIRN_DATA, a HOME with nothing in it. */
  cairn(words: readonly string[], options?: RunOptions): Promise<Finished>
  /** The words to run it with by other means, e.g. on a terminal. */
  command(...words: string[]): string[]
  /** A file below `directory`, with its directories. Returns its path. */
  write(path: string, content: string | Uint8Array): string
  /** Kills what still runs and leaves nothing. */
  remove(): Promise<void>
}

export interface ServerOptions {
  /** After `cairn up`. */
  readonly flags?: readonly string[]
  readonly listen?: string
  readonly env?: NodeJS.ProcessEnv
  /** Another replica on the database of this one, with the same key. */
  readonly beside?: TestServer
  /** An existing data directory, e.g. a restored one. */
  readonly data?: string
}

export interface TestServer {
  readonly url: string
  /** What CAIRN_DATA is. */
  readonly data: string
  /** `postgres://…`; undefined for SQLite. */
  readonly database: string | undefined
  /** With the admin token that `cairn up` made. */
  readonly client: Client
  readonly adminToken: string
  /** Of the node process; of the last one when it does not run. */
  pid(): number
  /** All that it said on standard error since the first start. */
  log(): string
  clientOf(token: string): Client
  /** One request by hand, as the administrator unless the headers say otherwise. */
  fetch(path: string, init?: RequestInit): Promise<Response>
  /** The command line of whoever started the server. */
  cairn(words: readonly string[], options?: RunOptions): Promise<Finished>
  /** One statement in its database, beside it. */
  query(text: string): Promise<readonly Record<string, unknown>[]>
  /** SIGTERM. Resolves with its exit code when it has ended. */
  stop(): Promise<number>
  /** SIGKILL. */
  kill(): Promise<void>
  /** After stop or kill, with the same flags unless others are given; ready when it resolves. */
  start(flags?: readonly string[]): Promise<void>
}

/** With `postgres` a cluster is started that every server of the ground gets a database of. */
export async function openGround(kind: DatabaseKind = 'sqlite'): Promise<Ground> {
  const bundle = await buildOnce()
  const postgres = kind === 'postgres' ? await startPostgres() : null
  // Programs may not be run from every memory file system; data is quicker there.
  const programs = mkdtempSync(join(tmpdir(), 'cairn-program-'))
  const directory = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'cairn-bundles-'))
  install(bundle, programs)
  const node = join(programs, `node_modules/node-linux-${process.arch}/bin/node`)
  mkdirSync(dirname(node))
  symlinkSync(process.execPath, node)
  const program = join(programs, 'bin/cairn')
  const home = join(directory, 'home')
  mkdirSync(home)
  const env = { PATH: '/usr/bin:/bin', HOME: home, LC_ALL: 'C.UTF-8' }

  const servers: TestServer[] = []
  const clients: Client[] = []
  let made = 0
  return {
    directory,
    postgres,
    async startServer(options = {}) {
      const data = options.data ?? join(directory, `data-${++made}`)
      const database = options.beside?.database ?? (await postgres?.createDatabase())
      const query = async (text: string) =>
        postgres && database !== undefined ? postgres.query(database, text) : inSqlite(databaseFileIn(data), text)
      const server = { ...(await startServer({ program, env, data, database, options, clients })), query }
      servers.push(server)
      return server
    },
    command: (...words) => [program, ...words],
    cairn: (words, options) =>
      run([program, ...words], { cwd: directory, ...options, env: { ...env, ...options?.env } }),
    write(path, content) {
      const file = join(directory, path)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, content)
      return file
    },
    async remove() {
      for (const server of servers) await server.kill()
      await Promise.all(clients.map(client => client.close()))
      await postgres?.remove()
      for (const tree of [directory, programs]) removeTree(realFiles, tree)
    },
  }
}

interface Started {
  readonly url: string
  readonly tokenFile: string
  readonly caFile?: string
}

async function startServer({
  program,
  env,
  data,
  database,
  clients,
  options: { flags: firstFlags = [], listen = '127.0.0.1:0', env: more = {}, beside },
}: {
  readonly program: string
  readonly env: NodeJS.ProcessEnv
  readonly data: string
  readonly database: string | undefined
  /** Closed by whoever gave them. */
  readonly clients: Client[]
  readonly options: ServerOptions
}): Promise<Omit<TestServer, 'query'>> {
  const host = listen.slice(0, listen.lastIndexOf(':'))
  const keyFile = beside && keyFileIn(beside.data)
  let log = ''
  let child: ChildProcess
  let port = Number(listen.slice(host.length + 1))

  async function up(flags: readonly string[]): Promise<Started> {
    const words = ['up', '--json', '--data', data, '--listen', `${host}:${port}`, ...flags]
    if (database !== undefined) words.push('--database', database)
    if (keyFile) words.push('--key-file', keyFile)
    const begun = spawn(program, words, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...env, ...more } })
    child = begun
    endWithUs(begun)
    let said = ''
    begun.stdout.on('data', chunk => (said += chunk))
    begun.stderr.on('data', chunk => (log += chunk))
    await until('the server has said where it is', () => said.includes('\n') || hasEnded(begun)).catch(error => {
      begun.kill('SIGKILL')
      throw error
    })
    if (hasEnded(begun)) throw new Error(`the server did not start (${begun.exitCode}):\n${said}${log}`)
    const started = JSON.parse(said.split('\n')[0] ?? '') as Started
    port = Number(new URL(started.url).port)
    return started
  }

  const end = async (signal: NodeJS.Signals): Promise<number> => {
    const running = child
    if (!hasEnded(running)) {
      const closed = new Promise(done => running.once('close', done))
      running.kill(signal)
      await closed
    }
    return running.exitCode ?? -1
  }

  const { url, tokenFile, caFile } = await up(firstFlags)
  const ca = caFile === undefined ? undefined : readFileSync(caFile, 'utf8')
  const adminToken = readFileSync(tokenFile, 'utf8').trim()
  const clientOf = (token: string): Client => {
    const client = createClient({ url, token: new Secret(token), ...(ca !== undefined && { ca }) })
    clients.push(client)
    return client
  }
  const client = clientOf(adminToken)
  await ready({ url, log: () => log, hasEnded: () => hasEnded(child) })
  return {
    url,
    data,
    database,
    client,
    adminToken,
    pid: () => child.pid ?? 0,
    log: () => log,
    clientOf,
    fetch: (path, init = {}) =>
      fetch(new URL(path, url), { ...init, headers: { authorization: `Bearer ${adminToken}`, ...init.headers } }),
    cairn: (words, options) =>
      run([program, ...words], { cwd: data, ...options, env: { ...env, CAIRN_DATA: data, ...options?.env } }),
    stop: () => end('SIGTERM'),
    kill: async () => void (await end('SIGKILL')),
    async start(flags = firstFlags) {
      await up(flags)
      await ready({ url, log: () => log, hasEnded: () => hasEnded(child) })
    },
  }
}

function inSqlite(file: string, text: string): Record<string, unknown>[] {
  const database = new DatabaseSync(file, { timeout: 10_000 })
  try {
    return database.prepare(text).all()
  } finally {
    database.close()
  }
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess) => exitCode !== null || signalCode !== null

/** A test process that ends early takes its servers along. */
function endWithUs(child: ChildProcess) {
  const kill = () => void child.kill('SIGKILL')
  process.once('exit', kill)
  child.once('close', () => process.off('exit', kill))
}

/** It says where it is only after it listens; whether it can work it says at /readyz. Over TLS listening is enough. */
async function ready({ url, log, hasEnded }: { url: string; log(): string; hasEnded(): boolean }) {
  const { protocol, port } = new URL(url)
  await until(
    'the server is ready',
    async () => {
      if (hasEnded()) throw new Error(`the server has ended:\n${log()}`)
      return protocol === 'https:' ? connects(Number(port)) : (await fetch(`${url}/readyz`)).ok
    },
    log,
  )
}

function connects(port: number): Promise<boolean> {
  return new Promise(resolve => {
    const socket = createConnection(port, '127.0.0.1', () => {
      socket.destroy()
      resolve(true)
    })
    socket.on('error', () => resolve(false))
  })
}

/** Throws after half a minute. */
export async function until(what: string, look: () => boolean | Promise<boolean>, about = () => ''): Promise<void> {
  for (const end = Date.now() + 30_000; Date.now() < end; await setTimeout(10)) if (await look()) return
  throw new Error(`did not happen within 30 s: ${what}\n${about()}`)
}
