// What the supervisor does in the directories of a process, and what it refuses to.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findProgram } from '../../lib/run.ts'
import { syncNames } from './sync-names.ts'
import { makeLinks, mountAll, unmountAll } from './volume-calls.ts'

let base: string
let own: string
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'cairn-own-'))
  own = join(base, 'own')
  mkdirSync(join(own, 'below'), { recursive: true })
  mkdirSync(join(base, 'other'))
  for (const name of ['own/file', 'own/below/file', 'other/file']) writeFileSync(join(base, name), 'x')
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

const refused = { code: 'call.refused' }

describe('sync', () => {
  const sync = (directory: string, names: string[]) => syncNames([own], { directory, names })

  it('makes files durable in the directory and below it', async () => {
    await sync(own, ['file', 'below'])
    await sync(join(own, 'below'), ['file'])
    await sync(own, [])
  })

  it('refuses every way out', async () => {
    symlinkSync(join(base, 'other'), join(own, 'link'))
    symlinkSync('file', join(own, 'near'))
    await expect(sync(join(base, 'other'), ['file'])).rejects.toMatchObject(refused)
    await expect(sync(`${own}-like`, [])).rejects.toMatchObject(refused)
    await expect(sync(join(own, 'link'), ['file'])).rejects.toMatchObject(refused)
    await expect(sync(`${own}/../other`, ['file'])).rejects.toMatchObject(refused)
    for (const name of ['near', 'link', '../other', 'below/file', '..', '.', '\0'])
      await expect(sync(own, [name])).rejects.toMatchObject(refused)
  })

  it.skipIf(!findProgram('mkfifo'))('does not wait for the other end of a pipe', async () => {
    spawnSync('mkfifo', [join(own, 'pipe')])
    await expect(sync(own, ['pipe'])).rejects.toMatchObject(refused)
  })

  it('says what is not there', async () => {
    await expect(sync(own, ['missing'])).rejects.toMatchObject({ code: 'sync.failed' })
  })
})

describe('links', () => {
  it('are made as they are given, in real directories only', async () => {
    await makeLinks(own, { links: [{ path: join(own, 'below/link'), text: '../../../anywhere' }] })
    expect(readlinkSync(join(own, 'below/link'))).toBe('../../../anywhere')
    symlinkSync(join(base, 'other'), join(own, 'out'))
    const outside = { path: join(own, 'out/evil'), text: 'x' }
    await expect(makeLinks(own, { links: [outside] })).rejects.toMatchObject(refused)
    expect(existsSync(join(base, 'other/evil'))).toBe(false)
  })
})

const mayMount = process.getuid?.() === 0 && spawnSync('unshare', ['--mount', 'true']).status === 0

describe('mounts', () => {
  it('are only made by root', async () => {
    const source = '/x/io.containerd.snapshotter.v1.native/snapshots/1'
    const mount = mountAll(own, { mounts: [{ type: 'bind', source, options: ['rbind'] }], target: join(own, 'below') })
    await expect(mount).rejects.toMatchObject({ code: process.getuid?.() === 0 ? 'mount.failed' : 'mount.denied' })
  })

  it.skipIf(!mayMount)('show a snapshot of the runtime, and go again, however many lie on each other', async () => {
    const source = join(base, 'io.containerd.snapshotter.v1.native/snapshots/1')
    mkdirSync(source, { recursive: true })
    writeFileSync(join(source, 'inside'), 'x')
    const target = join(own, 'below')
    const mount = { type: 'bind', source, options: ['rbind', 'rw'] }
    try {
      await mountAll(own, { mounts: [mount, mount], target })
      expect(existsSync(join(target, 'inside'))).toBe(true)
    } finally {
      await unmountAll(own, { target })
    }
    expect(existsSync(join(target, 'inside'))).toBe(false)
    await unmountAll(own, { target })
    await unmountAll(own, { target: join(own, 'missing') })
  })
})
