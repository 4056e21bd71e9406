import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { UnitName } from '../names.ts'
import { offlineSystemd } from './offline.ts'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'cairn-offline-'))
})
afterEach(() => rmSync(root, { recursive: true }))

describe('a machine where nothing runs', () => {
  it('counts its usual targets as up, and the units that they want', async () => {
    const wants = join(root, 'etc/systemd/system/multi-user.target.wants')
    mkdirSync(wants, { recursive: true })
    writeFileSync(join(wants, 'web.service'), '')
    const names = ['multi-user.target', 'web.service', 'other.service'] as UnitName[]
    const live = await offlineSystemd({ etc: join(root, 'etc') }).show(names)
    expect(names.map(name => live.get(name)?.active)).toEqual(['active', 'active', 'inactive'])
  })

  it('runs a command later, and not when it is cancelled or replaced', async () => {
    const { runLater, cancelLater } = offlineSystemd({ etc: join(root, 'etc') })
    const touch = (name: string) => ['/usr/bin/touch', join(root, name)]
    const unit = (name: string) => `cairn-test-${process.pid}-${name}`
    await runLater({ unit: unit('a'), afterMs: 100, command: touch('ran') })
    await runLater({ unit: unit('b'), afterMs: 300, command: touch('cancelled') })
    await runLater({ unit: unit('c'), afterMs: 300, command: touch('replaced') })
    await delay(50)
    await cancelLater(unit('b'))
    await runLater({ unit: unit('c'), afterMs: 300, command: touch('instead') })
    for (let tries = 0; tries < 200 && !existsSync(join(root, 'instead')); tries++) await delay(50)
    expect(['ran', 'cancelled', 'replaced', 'instead'].filter(name => existsSync(join(root, name)))).toEqual([
      'ran',
      'instead',
    ])
  })
})
