import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { realClock } from '../../lib/clock.ts'
import { Secret } from '../../lib/redact.ts'
import { openSqlite } from './sqlite.ts'
import { temporaryDatabase, temporaryDirectory } from './temporary.fake.ts'

let dataDirectory: string
beforeEach(() => {
  dataDirectory = temporaryDirectory()
})
afterEach(() => rmSync(dataDirectory, { recursive: true }))

const open = () => temporaryDatabase({ dataDirectory })

describe('a data directory', () => {
  it('is made private, with everything in it', async () => {
    const database = await temporaryDatabase({ dataDirectory: join(dataDirectory, 'deep/data') })
    expect(statSync(join(dataDirectory, 'deep/data')).mode & 0o777).toBe(0o700)
    for (const name of readdirSync(join(dataDirectory, 'deep/data')))
      expect([name, statSync(join(dataDirectory, 'deep/data', name)).mode & 0o777]).toEqual([name, 0o600])
    await database.close()
  })

  it('is used by one server at a time, and the second is told by whom', async () => {
    const first = await open()
    await expect(open()).rejects.toMatchObject({
      code: 'database.in-use',
      message: expect.stringContaining(`cairn up (pid ${process.pid}`),
    })
    await first.close()
    await (await open()).close()
  })

  it('keeps what is in it from one start to the next', async () => {
    const first = await open()
    await first.secrets.put('key', new Secret('kept'), realClock.now().toISOString())
    await first.close()
    const second = await open()
    expect((await second.secrets.reveal('key'))?.reveal()).toBe('kept')
    await second.close()
  })

  it('has no lease left of a server that died: nobody else can hold one', async () => {
    const wish = { holder: 'ann', operation: 'apply' }
    const first = await open()
    const lease = await first.store.leases.acquire('stack', wish)
    await first.close()
    const second = await open()
    expect(await second.store.leases.holder('stack')).toBeNull()
    expect(await second.store.leases.renew(lease as never)).toBe(false)
    expect(await second.store.leases.acquire('stack', wish)).toMatchObject({ key: 'stack' })
    await second.close()
  })

  it('loses what a backup left there that was killed, once it is a day old', async () => {
    for (const name of ['.cairn-tmp-backup-old', '.cairn-tmp-backup-new']) {
      mkdirSync(join(dataDirectory, name))
      writeFileSync(join(dataDirectory, name, 'cairn.db'), '')
    }
    const dayBefore = Date.now() / 1000 - 25 * 3600
    utimesSync(join(dataDirectory, '.cairn-tmp-backup-old'), dayBefore, dayBefore)
    await (await open()).close()
    expect(readdirSync(dataDirectory).filter(name => name.startsWith('.'))).toEqual(['.cairn-tmp-backup-new'])
  })

  it('is free again after an open that failed', async () => {
    writeFileSync(join(dataDirectory, 'cairn.db'), 'this is no database, however long one makes it'.repeat(200))
    await expect(open()).rejects.toMatchObject({ code: 'database.unreadable' })
    rmSync(join(dataDirectory, 'cairn.db'))
    await (await open()).close()
  })

  it('has no secret in clear in any file, also while the server runs', async () => {
    const value = 'tell-nobody-of-this-value'
    const database = await open()
    await database.secrets.put('key', new Secret(value), realClock.now().toISOString())
    await database.store.transaction(tx => tx.write([{ do: 'put-secret', key: 'other', value: new Secret(value) }]))
    const holdsClear = () =>
      readdirSync(dataDirectory).filter(name => readFileSync(join(dataDirectory, name)).includes(value))
    expect(readdirSync(dataDirectory)).toContain('cairn.db-wal')
    expect(holdsClear()).toEqual([])
    await database.close()
    expect(holdsClear()).toEqual([])
  })
})

describe('the tables', () => {
  it('of a newer Cairn are refused, and left as they are', async () => {
    await (await open()).close()
    const file = join(dataDirectory, 'cairn.db')
    change(file, `update meta set value = '99' where key = 'version'`)
    await expect(open()).rejects.toMatchObject({ code: 'database.newer' })
    change(file, `update meta set value = '1' where key = 'version'`)
    await (await open()).close()
  })

  it('are refused with another key, and without the key', async () => {
    await (await open()).close()
    const other = await temporaryDatabase()
    writeFileSync(join(dataDirectory, 'vault.key'), readFileSync(join(other.dataDirectory, 'vault.key')))
    await other.close()
    await expect(open()).rejects.toMatchObject({ code: 'vault.wrong-key' })
    rmSync(join(dataDirectory, 'vault.key'))
    await expect(open()).rejects.toMatchObject({ code: 'vault.key-missing' })
    expect(readdirSync(dataDirectory)).not.toContain('vault.key')
  })
})

describe('a commit', () => {
  it('is synced to the log before it is acknowledged', async () => {
    const { write, close } = openSqlite(join(dataDirectory, 'x.db'))
    const settings = await write(async tx => {
      const journal = await sql<{ journal_mode: string }>`pragma journal_mode`.execute(tx)
      const synchronous = await sql<{ synchronous: number }>`pragma synchronous`.execute(tx)
      const foreign = await sql<{ foreign_keys: number }>`pragma foreign_keys`.execute(tx)
      return { ...journal.rows[0], ...synchronous.rows[0], ...foreign.rows[0] }
    })
    expect(settings).toEqual({ journal_mode: 'wal', synchronous: 2, foreign_keys: 1 })
    await close()
  })

  it('that was acknowledged is there after kill -9', async () => {
    const writer = fileURLToPath(new URL('./writer.fake.ts', import.meta.url))
    const child = spawn(process.execPath, [writer, dataDirectory], { stdio: ['ignore', 'pipe', 'inherit'] })
    let said = ''
    child.stdout.on('data', chunk => {
      said += chunk
      if (said.split('\n').length > 20) child.kill('SIGKILL')
    })
    await once(child, 'close')
    const acknowledged = said.split('\n').slice(0, -1)
    const database = await open()
    const { stacks } = await database.store.stacks({}, { limit: 10_000 })
    await database.close()
    expect(acknowledged.length).toBeGreaterThan(10)
    expect(stacks.map(({ id }) => id)).toEqual(expect.arrayContaining(acknowledged))
  })
})

it('leads always, and ends its works when it closes', async () => {
  const database = await open()
  expect(database.leadership.isLeader()).toBe(true)
  const seen: string[] = []
  const work = (name: string) => async (signal: AbortSignal) => {
    seen.push(`${name} begins`)
    await new Promise(resolve => signal.addEventListener('abort', resolve))
    seen.push(`${name} ends`)
  }
  const { stop } = database.leadership.lead(work('a'))
  database.leadership.lead(work('b'))
  await stop()
  expect(seen).toEqual(['a begins', 'b begins', 'a ends'])
  await database.close()
  expect(seen.at(-1)).toBe('b ends')
})

function change(file: string, text: string) {
  const database = new DatabaseSync(file)
  database.exec(text)
  database.close()
}
