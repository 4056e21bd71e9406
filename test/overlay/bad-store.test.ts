// A store that was damaged by somebody or something else: what can be made again is, what cannot is named, and no switch
// builds on what is not whole.
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { removeTree } from '../../src/lib/durable.ts'
import { realFiles } from '../../src/lib/files.ts'
import type { OverlayConfig } from '../../src/resources/overlay-config.ts'
import { snapshotTree } from '../machine/etc-snapshot.ts'
import { describeWith } from '../require.ts'
import { type RootlessMachine, rootlessMachine } from './rootless.ts'

const configOf = (greeting: string): OverlayConfig => ({
  version: greeting,
  packageByNames: {
    motd: {
      version: '1',
      source: { type: 'inline', content: `${greeting}\n`, path: 'motd' },
      etcFiles: [{ source: 'motd', target: 'app/motd' }],
    },
    tool: { version: '1', source: { type: 'inline', content: '#!/bin/sh\n' } },
  },
  systemdUnitsByName: {
    tool: {
      version: '1',
      packages: ['tool'],
      templateInline: '[Service]\nExecStart={{.GetPackagePath "tool" "bin/tool"}}\n',
    },
  },
})
const [hello, goodbye] = [configOf('hello'), configOf('goodbye')]

let machine: RootlessMachine
beforeAll(async () => {
  machine = await rootlessMachine()
})
beforeEach(async () => {
  expect(await machine.node('apply', hello)).toMatchObject({ code: 0, said: { generation: 1 } })
})
afterEach(() => machine.user.clear())
afterAll(() => machine?.user.remove())

const record = (name: string) => machine.store(`records/${machine.stateOf(name)}.json`)
const motd = () => readFileSync(machine.etc('app/motd'), 'utf8')

interface Prepared {
  readonly packages: readonly { readonly name: string; readonly fresh: boolean }[]
  readonly warnings: readonly { readonly code: string }[]
}

describe('what can be made again', () => {
  it.each<[string, (path: { record: string; state: string }) => void, string[]]>([
    ['a state without its record', path => rmSync(path.record), []],
    ['a record without its state', path => removeTree(realFiles, path.state), []],
    ['a record that cannot be read', path => writeFileSync(path.record, '{"schema": 1'), ['record.corrupt']],
  ])('%s is installed again', async (_, damage, warnings) => {
    damage({ record: record('tool'), state: machine.store(`states/${machine.stateOf('tool')}`) })
    const { code, said } = await machine.node<Prepared>('prepare', hello)
    expect(code).toBe(0)
    expect(said.packages.filter(({ fresh }) => fresh).map(({ name }) => name)).toEqual(['tool'])
    expect(said.warnings.map(warning => warning.code)).toEqual(warnings)
    const putAside = readdirSync(machine.store('records')).filter(name => name.endsWith('.corrupt'))
    expect(putAside).toHaveLength(warnings.length)
    expect(await machine.node('verify')).toMatchObject({ code: 0, said: { checked: 4, damaged: [] } })
  })
})

describe('a state that is not whole', () => {
  const cutShort = (name: string, path: string) => {
    const file = machine.store(`states/${machine.stateOf(name)}/${path}`)
    chmodSync(file, 0o755)
    writeFileSync(file, '')
    chmodSync(file, 0o555)
  }

  it('is refused by an apply that would use it', async () => {
    const damaged = machine.stateOf('tool')
    cutShort('tool', 'bin/tool')
    const { code, said } = await machine.node('apply', goodbye)
    expect(code).toBe(4)
    expect(said).toMatchObject({
      error: {
        code: 'preflight.failed',
        problems: [{ code: 'state.damaged', reason: expect.stringContaining(damaged) }],
      },
    })
    expect([machine.current(), motd()]).toEqual(['generations/1', 'hello\n'])
  })

  it('is refused by a rollback to a generation that needs it, and named', async () => {
    const damaged = machine.stateOf('motd')
    await machine.node('apply', goodbye)
    removeTree(realFiles, machine.store(`states/${damaged}`))
    const { code, said } = await machine.node('rollback')
    expect(code).toBe(4)
    expect(said).toMatchObject({
      error: { code: 'generation.incomplete', problems: [{ reason: expect.stringContaining(damaged) }] },
    })
    expect([machine.current(), motd()]).toEqual(['generations/2', 'goodbye\n'])
  })
})

describe('a journal that cannot be read', () => {
  it.each(['', '{ torn', 'null', '{}'])(
    '(%j) is left by questions, and recover puts /etc back to the current generation',
    async text => {
      const { said: prepared } = await machine.node<{ etcState: string }>('prepare', goodbye)
      // As a switch that was killed after its point of no return leaves it.
      rmSync(machine.store('etc/static'))
      symlinkSync(`../states/${prepared.etcState}/etc`, machine.store('etc/static'))
      const journal = machine.user.write('machine/cairn/journal/0123.json', text)
      expect(motd()).toBe('goodbye\n')

      expect(await machine.node('status --exit-code')).toMatchObject({
        code: 2,
        said: { openJournal: expect.stringContaining('0123') },
      })
      await machine.node('plan', hello)
      expect(readFileSync(journal, 'utf8')).toBe(text)

      const { code, said } = await machine.node<{ recovered: string[] }>('recover')
      expect({ code, said }).toMatchObject({ code: 0, said: { outcome: 'whole' } })
      expect(said.recovered.join(' ')).toMatch(/generation 1.*0123/)
      expect([machine.current(), motd()]).toEqual(['generations/1', 'hello\n'])
      expect(readdirSync(dirname(journal))).toEqual(['0123.json.corrupt'])
      expect(await machine.node('status --exit-code')).toMatchObject({ code: 0 })
    },
  )
})

describe('a generation without a readable manifest', () => {
  it('is named by questions, and made again by recover', async () => {
    await machine.node('apply', goodbye)
    writeFileSync(machine.store('generations/2/manifest.json'), '{')
    const before = machine.snapshot()
    expect(await machine.node('status')).toMatchObject({
      code: 1,
      said: { error: { code: 'generation.unreadable', hint: expect.stringContaining('recover') } },
    })
    expect(await machine.node('generations')).toMatchObject({
      code: 0,
      said: {
        generations: [
          { generation: 2, current: true, outcome: 'unreadable' },
          { generation: 1, version: 'hello' },
        ],
      },
    })
    expect(machine.snapshot()).toEqual(before)

    expect(await machine.node('recover')).toMatchObject({
      code: 0,
      said: { recovered: [expect.stringContaining('manifest of generation 2')] },
    })
    expect(await machine.node('apply', goodbye)).toMatchObject({ code: 0, said: { outcome: 'nothing to do' } })
    expect(await machine.node('rollback')).toMatchObject({ code: 0, said: { generation: 1 } })
    expect(motd()).toBe('hello\n')
  })
})

describeWith(['root'], 'a full disk', () => {
  // Only root may mount one that is small.
  const onSmallDisk = async (size: string, work: () => Promise<void>) => {
    removeTree(realFiles, machine.root)
    mkdirSync(machine.root)
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size},mode=0777`, 'cairn-test', machine.root])
    try {
      await work()
    } finally {
      execFileSync('umount', [machine.root])
    }
  }

  it('is found before anything is switched', () =>
    onSmallDisk('4m', async () => {
      const { code, said } = await machine.node('apply', hello)
      expect({ code, said }).toMatchObject({
        code: 4,
        said: { error: { problems: expect.arrayContaining([expect.objectContaining({ code: 'disk.full' })]) } },
      })
      expect(readdirSync(machine.etc('.'))).toEqual([])
      expect(machine.current()).toBeNull()
    }))

  it('takes nothing half: what did not fit is not there, and what was there still is', () =>
    onSmallDisk('24m', async () => {
      expect(await machine.node('apply', hello)).toMatchObject({ code: 0 })
      const before = snapshotTree(machine.etc('.'))
      machine.user.write('large/file', Buffer.alloc(32 * 2 ** 20, 'x'))
      const large = {
        ...goodbye,
        packageByNames: {
          ...goodbye.packageByNames,
          large: { version: '1', source: { type: 'file', uri: './large' } },
        },
      }
      const { code, said } = await machine.node('apply', large)
      expect({ code, said }).toMatchObject({ code: 1, said: { error: { code: 'disk.full' } } })
      expect(machine.inStore().filter(name => /large|tmp/.test(name))).toEqual([])
      expect(snapshotTree(machine.etc('.'))).toEqual(before)
      expect(await machine.node('verify')).toMatchObject({ code: 0 })
      expect(await machine.node('apply', goodbye)).toMatchObject({ code: 0, said: { generation: 2 } })
    }))
})
