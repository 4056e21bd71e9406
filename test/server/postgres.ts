// A real PostgreSQL that is thrown away: a cluster of its own in a temporary directory, on a loopback port, with fsync on.
// It refuses to run as root, so a test that is root starts it as nobody.
import { chownSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { runOrThrow } from '../machine/process.ts'
import { postgresPrograms } from './postgres-programs.ts'

export interface RealPostgres {
  /** The URL of a new and empty database. */
  createDatabase(): Promise<string>
  /** The URL of a new and empty schema in one database; faster, and enough for one server at a time. */
  createSchema(): Promise<string>
  /** One statement, as its administrator. */
  query(url: string, text: string): Promise<readonly Record<string, unknown>[]>
  /** As after a power cut of its machine: nobody is told, and it recovers from its log. */
  crashAndStart(): Promise<void>
  stopNow(): Promise<void>
  start(): Promise<void>
  /** Ends it and removes everything. */
  remove(): Promise<void>
}

const nobody = 65534
const isRoot = process.getuid?.() === 0
const asNobody = isRoot ? ['setpriv', `--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups', '--'] : []

export async function startPostgres(): Promise<RealPostgres> {
  const bin = postgresPrograms()
  if (!bin) throw new Error('PostgreSQL is not installed')
  const home = mkdtempSync(join(tmpdir(), 'cairn-postgres-'))
  if (isRoot) chownSync(home, nobody, nobody)
  const data = join(home, 'data')
  const log = join(home, 'log')
  const program = (name: string, ...args: string[]) =>
    runOrThrow([...asNobody, join(bin, name), ...args], {
      cwd: home,
      env: { PATH: '/usr/bin:/bin', LC_ALL: 'C.UTF-8' },
    })

  const port = await freePort()
  const settings = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c max_connections=60`
  const urlOf = (database: string) => `postgres://admin@127.0.0.1:${port}/${database}`
  const start = async () => {
    await program('pg_ctl', 'start', '-w', '-t', '60', '-D', data, '-l', log, '-o', settings).catch(error => {
      throw new Error(`${error}\n${existsSync(log) ? readFileSync(log, 'utf8') : ''}`)
    })
  }
  const stopNow = async () => {
    if (existsSync(join(data, 'postmaster.pid'))) await program('pg_ctl', 'stop', '-w', '-D', data, '-m', 'immediate')
  }
  const remove = async () => {
    await stopNow()
    rmSync(home, { recursive: true, force: true })
  }
  const query = async (url: string, text: string) => {
    const client = new Client({ connectionString: url })
    await client.connect()
    try {
      return (await client.query<Record<string, unknown>>(text)).rows
    } finally {
      await client.end()
    }
  }
  try {
    await program('initdb', '-D', data, '-U', 'admin', '--auth=trust', '--encoding=UTF8', '--no-instructions')
    await start()
  } catch (error) {
    await remove()
    throw error
  }

  let made = 0
  return {
    createDatabase: async () => {
      const name = `test_${++made}`
      await query(urlOf('postgres'), `create database ${name}`)
      return urlOf(name)
    },
    createSchema: async () => {
      const name = `test_${++made}`
      await query(urlOf('postgres'), `create schema ${name}`)
      return `${urlOf('postgres')}?options=-c%20search_path%3D${name}`
    },
    query,
    crashAndStart: async () => {
      await stopNow()
      await start()
    },
    stopNow,
    start,
    remove,
  }
}

/** Free a moment ago. PostgreSQL cannot be told to choose one itself. */
function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.on('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() =>
        typeof address === 'object' && address ? resolve(address.port) : reject(new Error('no port')),
      )
    })
  })
}
