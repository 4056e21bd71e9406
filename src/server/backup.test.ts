import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { realClock as clock } from '../lib/clock.ts'
import { Secret } from '../lib/redact.ts'
import { backupDatabase, restoreDatabase } from './backup.ts'
import { finishRestore } from './database/restore-switch.ts'
import { type TemporaryDatabase, temporaryDatabase } from './database/temporary.fake.ts'

let place: string
let dataDirectory: string
let out: string
let database: TemporaryDatabase | undefined
beforeEach(async () => {
  place = mkdtempSync(join(tmpdir(), 'cairn-backup-'))
  dataDirectory = join(place, 'data')
  out = join(place, 'cairn.backup')
  database = await temporaryDatabase({ dataDirectory })
  await put('first')
})
afterEach(async () => {
  await stop()
  rmSync(place, { recursive: true })
})

const put = (value: string) => database!.secrets.put('key', new Secret(value), clock.now().toISOString())
const stop = async () => {
  await database?.close()
  database = undefined
}
const backup = (options = {}) => backupDatabase({ dataDirectory, out, clock, ...options })
const restore = (options = {}) => restoreDatabase({ from: out, dataDirectory, clock, ...options })
const valueIn = async (directory: string) => {
  const opened = await temporaryDatabase({ dataDirectory: directory })
  const value = (await opened.secrets.reveal('key'))?.reveal()
  await opened.close()
  return value
}
const litter = () => readdirSync(dataDirectory).filter(name => name.startsWith('.') || name === 'restore.json')

describe('a backup', () => {
  it('is made while the server runs, is private, and leaves nothing behind', async () => {
    const { bytes } = await backup()
    expect(statSync(out).mode & 0o777).toBe(0o600)
    expect(statSync(out).size).toBe(bytes)
    expect(readdirSync(place).sort()).toEqual(['cairn.backup', 'data'])
    expect(litter()).toEqual([])
    await put('later')
    expect((await database!.secrets.reveal('key'))?.reveal()).toBe('later')
  })

  it('is of one moment, also when much is written meanwhile', async () => {
    let writing = true
    const busy = (async () => {
      for (let count = 0; writing; count++) await put(`busy ${count}`)
    })()
    await backup()
    writing = false
    await busy
    const target = join(place, 'other')
    await restore({ dataDirectory: target })
    expect(await valueIn(target)).toMatch(/^(busy \d+|first)$/)
  })

  it('replaces no file unless told to', async () => {
    await backup()
    const before = readFileSync(out)
    await expect(backup()).rejects.toMatchObject({ code: 'backup.exists' })
    expect(readFileSync(out)).toEqual(before)
    await put('second')
    await backup({ force: true })
    expect(readFileSync(out)).not.toEqual(before)
  })

  it('needs a database, its key, and a place to be written to', async () => {
    await expect(backup({ dataDirectory: place })).rejects.toMatchObject({ code: 'backup.no-database' })
    await expect(backup({ out: join(place, 'no/such/place') })).rejects.toMatchObject({ code: 'backup.failed' })
    await expect(backup({ keyFile: join(place, 'none') })).rejects.toMatchObject({ code: 'vault.key-missing' })
    expect(existsSync(out)).toBe(false)
    expect(litter()).toEqual([])
  })
})

describe('a restore', () => {
  it('puts database and key where nothing was', async () => {
    await backup()
    const target = join(place, 'other')
    expect(await restore({ dataDirectory: target })).toMatchObject({ kept: null })
    expect(readdirSync(target).sort()).toEqual(['cairn.db', 'lock', 'vault.key'])
    expect(await valueIn(target)).toBe('first')
  })

  it('is refused while a server runs, and where there is a database, unless told to', async () => {
    await backup()
    await expect(restore({ force: true })).rejects.toMatchObject({ code: 'database.in-use' })
    await put('second')
    await stop()
    await expect(restore()).rejects.toMatchObject({ code: 'restore.exists' })
    expect(await valueIn(dataDirectory)).toBe('second')
  })

  it('keeps what was there beside it, so that it can be had again', async () => {
    await backup()
    await put('second')
    await stop()
    const { kept } = await restore({ force: true })
    expect(await valueIn(dataDirectory)).toBe('first')
    expect(await valueIn(kept!)).toBe('second')
    expect(litter()).toEqual([])
  })

  it('takes nothing that is not a whole backup, and changes nothing then', async () => {
    await backup()
    await put('second')
    await stop()
    const whole = readFileSync(out)
    const flipped = Buffer.from(whole)
    flipped[whole.length - 3000]! ^= 1
    const cases: [string, Buffer][] = [
      ['flipped', flipped],
      ['cut', whole.subarray(0, whole.length / 2)],
      ['only its beginning', whole.subarray(0, 1024)],
      ['empty', Buffer.alloc(0)],
      ['text', Buffer.from('hello '.repeat(1000))],
    ]
    for (const [what, bytes] of cases) {
      writeFileSync(out, bytes)
      const error = await restore({ force: true }).catch((reason: unknown) => reason)
      expect([what, error]).toMatchObject([what, { code: 'backup.damaged' }])
    }
    await expect(restore({ from: join(place, 'none'), force: true })).rejects.toMatchObject({
      code: 'backup.unreadable',
    })
    expect(await valueIn(dataDirectory)).toBe('second')
    expect(litter()).toEqual([])
  })

  it.each([0, 1, 2, 3])('is finished by the next start when it was cut off after %i files', async count => {
    await backup()
    await put('second')
    await stop()
    const target = join(place, 'staging')
    await restore({ dataDirectory: target })
    stage(target, count)
    expect(await valueIn(dataDirectory)).toBe('first')
    finishRestore(dataDirectory)
    expect(await valueIn(dataDirectory)).toBe('first')
    expect(await valueIn(join(dataDirectory, 'kept'))).toBe('second')
  })

  /** As a crash leaves it, after this many renames of the switch. */
  function stage(from: string, count: number) {
    const staged = join(dataDirectory, 'staged')
    const kept = join(dataDirectory, 'kept')
    const moves: [string, string][] = [
      [join(dataDirectory, 'vault.key'), join(kept, 'vault.key')],
      [join(staged, 'vault.key'), join(dataDirectory, 'vault.key')],
      [join(dataDirectory, 'cairn.db'), join(kept, 'cairn.db')],
    ]
    mkdirSync(staged)
    mkdirSync(kept)
    for (const name of ['vault.key', 'cairn.db']) renameSync(join(from, name), join(staged, name))
    writeFileSync(join(dataDirectory, 'restore.json'), JSON.stringify({ staged: 'staged', kept: 'kept' }))
    for (const [before, after] of moves.slice(0, count)) renameSync(before, after)
  }
})
