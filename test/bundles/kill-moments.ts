// Moments at which a server is killed: by the clock, by what its clients see, and inside of a commit: when the log of SQLite
// grows, at one of its writes, in a transaction of PostgreSQL, or while one is held up at a table.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, watch } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'pg'
import type { Happening } from './kill-client.ts'
import { type TestServer, until } from './server.ts'

export interface Scene {
  readonly server: TestServer
  readonly random: () => number
  /** Resolves when it has happened this often. */
  happened(what: Happening, count: number): Promise<void>
  /** When the server is dead, however it died. */
  readonly dead: AbortSignal
}

export interface Coming {
  /** Resolves at the moment; may kill the server itself. */
  readonly here: Promise<unknown>
  /** After the kill. */
  release?(): Promise<void>
}

/** What has to be in place before the clients begin is, when it resolves. */
export type Moment = (scene: Scene) => Coming | Promise<Coming>

const upTo = ({ random }: Scene, most: number): number => 1 + Math.floor(random() * most)

const seenByClients: Readonly<Record<string, Moment>> = {
  'some time after a request': scene => ({
    here: scene.happened('sent', upTo(scene, 8)).then(() => delay(scene.random() * 120)),
  }),
  'when a request is written': scene => ({ here: scene.happened('sent', upTo(scene, 12)) }),
  'when a step begins': scene => ({ here: scene.happened('running', upTo(scene, 4)) }),
  'when a step is done': scene => ({ here: scene.happened('done', upTo(scene, 4)) }),
  'when an answer is there': scene => ({ here: scene.happened('answered', upTo(scene, 8)) }),
}

const inSqlite: Readonly<Record<string, Moment>> = {
  'when the log grows': ({ server, random, dead }) => {
    let left = 1 + Math.floor(random() * 40)
    const here = new Promise<void>(resolve => {
      const watching = watch(server.data, { signal: dead }, (_, name) => {
        if (name !== 'cairn.db-wal' || --left > 0) return
        watching.close()
        resolve()
      })
    })
    return { here }
  },
  'at a write of the log': scene => traced(scene, 'pwrite64', upTo(scene, 300)),
  'at a sync of the log': scene => traced(scene, 'fsync,fdatasync', upTo(scene, 12)),
}

const inPostgres: Readonly<Record<string, Moment>> = {
  'in a transaction': async scene => {
    const client = await connected(scene.server)
    let left = upTo(scene, 4)
    const look = async () => {
      while (!scene.dead.aborted && left > 0) {
        const { rowCount } = await client.query(
          `select 1 from pg_stat_activity
           where application_name = 'cairn' and datname = current_database() and backend_xid is not null`,
        )
        if (rowCount) left--
      }
    }
    return { here: look(), release: () => client.end() }
  },
  'in a transaction that is held up': async scene => {
    const client = await connected(scene.server)
    const tables = [
      'resources',
      'associations',
      'secrets',
      'stack_resources',
      'stack_events',
      'stacks',
      'feed',
      'leases',
    ]
    const table = tables[Math.floor(scene.random() * tables.length)] as string
    await client.query(`begin; lock table ${table} in share row exclusive mode`)
    const look = async () => {
      for (let waits = false; !waits && !scene.dead.aborted; ) {
        const { rowCount } = await client.query(
          `select 1 from pg_locks where not granted and relation = '${table}'::regclass`,
        )
        waits = Boolean(rowCount)
      }
    }
    return { here: look(), release: () => client.end() }
  },
}

export const sqliteMoments = { ...seenByClients, ...inSqlite }
export const postgresMoments = { ...seenByClients, ...inPostgres }

/** The kernel kills it at its nth call, before the call is done. */
async function traced({ server, dead }: Scene, call: 'pwrite64' | 'fsync,fdatasync', count: number): Promise<Coming> {
  const pid = server.pid()
  const inject = `inject=${call}:signal=SIGKILL:when=${count}`
  const words = ['-f', '-qq', '-o', '/dev/null', '-p', String(pid), '-e', `trace=${call}`, '-e', inject]
  const tracer = spawn('strace', words, { stdio: 'ignore' })
  const ended = once(tracer, 'close')
  await until('the server is traced', () => dead.aborted || /^TracerPid:\s[1-9]/m.test(statusOf(pid)))
  return {
    here: ended,
    release: async () => {
      await ended
    },
  }
}

function statusOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/status`, 'utf8')
  } catch {
    return ''
  }
}

async function connected({ database }: TestServer): Promise<Client> {
  const client = new Client({ connectionString: database, application_name: 'test' })
  await client.connect()
  return client
}
