// The fake service manager keeps the promises of the real ones, and shows a test what it was told.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { UnitName } from '../names.ts'
import { type MemorySystemd, memorySystemd } from './memory.fake.ts'
import { type ManagedMachine, systemdSuite } from './systemd.suite.ts'

const forever = '[Service]\nExecStart=/bin/sleep infinity\n'
const start = (unit: string) => ({ do: 'start' as const, unit: unit as UnitName, timeoutMs: 1000 })

describe('the fake service manager', () => {
  let root: string
  let machine: ManagedMachine & { systemd: MemorySystemd }

  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), 'cairn-memory-'))
    machine = managed(root)
  })

  afterAll(() => rmSync(root, { recursive: true }))

  systemdSuite('like a real one', () => machine, {
    skip: { 'hands over the last lines that a unit wrote': 'its units have no processes that could write' },
  })

  it('starts at boot what the standard targets want', async () => {
    await machine.write('/etc/systemd/system/a.service', forever)
    await machine.link('/etc/systemd/system/multi-user.target.wants/a.service', '../a.service')
    const booted = memorySystemd(root)
    expect(await booted.active()).toContain('a.service')
    expect(booted.calls).toEqual([])
    await machine.remove('/etc/systemd/system/multi-user.target.wants')
  })

  it('records what it was told, and what runs since when', async () => {
    const booted = memorySystemd(root)
    await machine.write('/etc/systemd/system/a.service', '[Service]\nExecStart=/bin/one\n')
    await booted.run([start('a.service')])
    await machine.write('/etc/systemd/system/a.service', '[Service]\nExecStart=/bin/two\n')
    await booted.daemonReload()
    expect(booted.running('a.service')).toEqual({ pid: expect.any(Number), commands: ['/bin/one'], reloads: 0 })
    await booted.run([{ do: 'restart', unit: 'a.service' as UnitName, timeoutMs: 1000 }])
    expect(booted.running('a.service')?.commands).toEqual(['/bin/two'])
    expect(booted.running('gone.service')).toBeNull()
    expect(booted.calls).toEqual(['start a.service', 'daemon-reload', 'restart a.service'])
  })

  it('reads units behind links whose text is what the machine would see', async () => {
    const booted = memorySystemd(root)
    await machine.write('/cairn/states/x/b.service', forever)
    await machine.link('/cairn/etc/static', '/cairn/states/x')
    await machine.link('/etc/systemd/system/b.service', '../../../cairn/etc/static/b.service')
    expect(await booted.run([start('b.service')])).toMatchObject([{ ok: true }])
  })

  it('takes links that lead nowhere for nothing, except by their name in .wants', async () => {
    await machine.link('/etc/systemd/system/c.service', '../../../cairn/nowhere/c.service')
    await machine.link('/etc/systemd/system/multi-user.target.wants/b.service', '../../../../cairn/nowhere/b.service')
    const booted = memorySystemd(root)
    expect(await booted.active()).toContain('b.service')
    expect(await booted.run([start('c.service')])).toMatchObject([{ ok: false, detail: 'Unit c.service not found.' }])
  })

  it('reads drop-ins behind a linked directory', async () => {
    await machine.write('/cairn/states/x/d.service.d/a.conf', '[Unit]\nRefuseManualStart=yes\n')
    await machine.link('/etc/systemd/system/d.service.d', '../../../cairn/etc/static/d.service.d')
    await machine.write('/etc/systemd/system/d.service', forever)
    const status = (await memorySystemd(root).show(['d.service' as UnitName])).get('d.service' as UnitName)
    expect(status).toMatchObject({ refuseManualStart: true, dropInPaths: ['/etc/systemd/system/d.service.d/a.conf'] })
  })
})

function managed(root: string): ManagedMachine & { systemd: MemorySystemd } {
  const systemd = memorySystemd(root)
  // Files written in the same instant would have the same time.
  let seconds = 1_000_000
  const makeParent = (path: string) => mkdirSync(dirname(join(root, path)), { recursive: true })
  return {
    systemd,
    write: async (path, text, mtime = seconds++) => {
      makeParent(path)
      writeFileSync(join(root, path), text)
      utimesSync(join(root, path), mtime, mtime)
    },
    link: async (path, text) => {
      makeParent(path)
      rmSync(join(root, path), { force: true })
      symlinkSync(text, join(root, path))
    },
    remove: async path => rmSync(join(root, path), { recursive: true, force: true }),
    connect: async path => {
      systemd.connect(path)
      return () => {}
    },
    pass: async ms => systemd.advance(ms),
    wasTouched: async path => systemd.calls.includes(`ran /usr/bin/touch ${path}`),
  }
}
