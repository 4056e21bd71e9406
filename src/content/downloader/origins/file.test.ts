import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdtempSync, readdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { sha256Hex } from '../../../lib/json.ts'
import type { Sha256 } from '../../messages.ts'
import { never, testOrigins, verdictOf } from './origins.fake.ts'

const body = Buffer.alloc(3_000_000, 'on a stick ')
const origins = testOrigins()
let directory: string
let path: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'cairn-file-'))
  path = join(directory, 'disk.img')
  writeFileSync(path, body)
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

const at = (place: string) => ({ kind: 'file', path: place }) as const
const openFiles = () => readdirSync('/proc/self/fd').length

describe('a file of this machine', () => {
  it('comes whole', async () => {
    const read = await origins.read({ source: at(path) })
    expect(read.bytes.equals(body)).toBe(true)
    expect(read).toMatchObject({ offset: 0, total: body.length, contentType: null })
  })

  it('goes on in the middle while it is the same', async () => {
    const { validator } = await origins.read({ source: at(path) })
    const read = await origins.read({ source: at(path), from: 2_000_000, validator: validator! })
    expect(read.offset).toBe(2_000_000)
    expect(read.bytes.equals(body.subarray(2_000_000))).toBe(true)
  })

  it('begins anew when it has changed, or when nothing says that it has not', async () => {
    const { validator } = await origins.read({ source: at(path) })
    appendFileSync(path, 'more')
    expect(await origins.read({ source: at(path), from: 5, validator: validator! })).toMatchObject({ offset: 0 })
    expect(await origins.read({ source: at(path), from: 5 })).toMatchObject({ offset: 0 })
  })

  it('goes on for a digest, unless it is shorter than that', async () => {
    const sha256 = sha256Hex(body) as Sha256
    expect(await origins.read({ source: at(path), from: 5, sha256 })).toMatchObject({ offset: 5 })
    const beyond = origins.read({ source: at(path), from: body.length + 1, sha256 })
    expect(await verdictOf(beyond)).toBe('source.range-unusable range')
  })

  it('may be reached through a link', async () => {
    symlinkSync(path, join(directory, 'link'))
    expect((await origins.read({ source: at(join(directory, 'link')) })).total).toBe(body.length)
  })

  it.each(['missing', 'disk.img/below'])('that is not there (%s) is missing', async name => {
    expect(await verdictOf(origins.read({ source: at(join(directory, name)) }))).toBe('source.not-found missing')
  })

  it('is a regular file: no directory, pipe or device', async () => {
    execFileSync('/usr/bin/mkfifo', [join(directory, 'pipe')])
    for (const place of [directory, join(directory, 'pipe'), '/dev/null', '/dev/zero'])
      expect(await verdictOf(origins.read({ source: at(place) }))).toBe('source.unreadable refused')
  })

  it('that becomes shorter while it is read broke off', async () => {
    const opened = await origins.open({ source: at(path), as: 'blob', from: 0, signal: never })
    truncateSync(path, 1000)
    expect(await verdictOf(Array.fromAsync(opened.body))).toBe('source.truncated passing')
  })

  it('is let go of at its end, when closed, when left and when aborted', async () => {
    const before = openFiles()
    const controller = new AbortController()
    const open = () => origins.open({ source: at(path), as: 'blob', from: 0, signal: controller.signal })
    const [read, closed, left, aborted] = [await open(), await open(), await open(), await open()]
    expect(openFiles()).toBe(before + 4)
    await Array.fromAsync(read.body)
    read.close()
    closed.close()
    for await (const _ of left.body) break
    controller.abort(new Error('enough'))
    await expect(Array.fromAsync(aborted.body)).rejects.toThrow('enough')
    expect(openFiles()).toBe(before)
  })
})
