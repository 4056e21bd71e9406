import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { armor, Decrypter } from 'age-encryption'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { realClock as clock } from '../lib/clock.ts'
import { Secret } from '../lib/redact.ts'
import { openVault } from './vault.ts'

let directory: string
let keyFile: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'cairn-vault-'))
  keyFile = join(directory, 'vault.key')
})
afterEach(() => rmSync(directory, { recursive: true }))

const open = (sealedTo: string | null = null) => openVault({ keyFile, sealedTo, clock })

describe('a vault', () => {
  it('opens what it sealed, also after a restart, and never seals the same twice', async () => {
    const vault = await open()
    const value = new Secret('ünïcode ☃ and\nlines')
    const sealed = [await vault.seal(value), await vault.seal(value)]
    expect(sealed[0]).not.toBe(sealed[1])
    expect(sealed.join()).not.toContain('lines')
    const again = await open(vault.recipient)
    for (const one of sealed) expect((await again.open(one)).reveal()).toBe(value.reveal())
  })

  it('seals in a way that age opens with the key file', async () => {
    const vault = await open()
    const sealed = await vault.seal(new Secret('for the operator'))
    const identity = readFileSync(keyFile, 'utf8')
      .split('\n')
      .find(line => line.startsWith('AGE-SECRET-KEY-1'))!
    const decrypter = new Decrypter()
    decrypter.addIdentity(identity)
    expect(await decrypter.decrypt(armor.decode(sealed), 'text')).toBe('for the operator')
  })

  it('gives equal values equal fingerprints, others under another key, and tells nothing', async () => {
    const vault = await open()
    const fingerprint = vault.fingerprint(new Secret('short'))
    expect(fingerprint).toMatch(/^[0-9a-f]{64}$/)
    expect(vault.fingerprint(new Secret('short'))).toBe(fingerprint)
    expect(vault.fingerprint(new Secret('other'))).not.toBe(fingerprint)
    rmSync(keyFile)
    expect((await open()).fingerprint(new Secret('short'))).not.toBe(fingerprint)
    expect(inspect(vault)).not.toContain('AGE-SECRET')
  })

  it('does not open what was sealed to another, or is damaged', async () => {
    const sealed = await (await open()).seal(new Secret('x'))
    rmSync(keyFile)
    const other = await open()
    for (const text of [sealed, sealed.replace('A', 'B'), '', 'x'])
      await expect(other.open(text)).rejects.toMatchObject({ code: 'vault.unreadable' })
  })
})

describe('the key file', () => {
  it('is made once, private, and leaves nothing else behind', async () => {
    const all = await Promise.all([open(), open(), open()])
    expect(new Set(all.map(({ recipient }) => recipient)).size).toBe(1)
    expect(readdirSync(directory)).toEqual(['vault.key'])
    expect(statSync(keyFile).mode & 0o777).toBe(0o600)
  })

  it('is not made for a database that was sealed with one', async () => {
    await expect(open('age1other')).rejects.toMatchObject({ code: 'vault.key-missing' })
    expect(readdirSync(directory)).toEqual([])
  })

  it('must be the one that the database was sealed with', async () => {
    await open()
    await expect(open('age1other')).rejects.toMatchObject({
      code: 'vault.wrong-key',
      message: expect.stringContaining('age1other'),
    })
  })

  it('must not be open to every user', async () => {
    await open()
    chmodSync(keyFile, 0o604)
    await expect(open()).rejects.toMatchObject({ code: 'vault.key-exposed' })
  })

  it('must hold an identity, and is not told when it does not', async () => {
    for (const text of ['', 'hello', 'AGE-SECRET-KEY-1WRONG\n']) {
      writeFileSync(keyFile, text, { mode: 0o600 })
      const error = await open().catch((reason: unknown) => reason)
      expect(error).toMatchObject({ code: 'vault.key-invalid' })
      expect(inspect(error)).not.toContain('WRONG')
    }
  })

  it('may be a link to where it is mounted', async () => {
    const { recipient } = await open()
    symlinkSync(keyFile, join(directory, 'link'))
    const linked = await openVault({ keyFile: join(directory, 'link'), sealedTo: recipient, clock })
    expect(linked.recipient).toBe(recipient)
  })
})
