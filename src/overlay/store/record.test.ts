import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { realFiles } from '../../lib/files.ts'
import type { Warning } from '../../lib/problem.ts'
import { type Layout, layoutOf, makeLayout, statePath } from '../layout.ts'
import type { Sha256, StateName } from '../names.ts'
import { listRecords, readRecord, recordedStates, recordPath, type StateRecord, writeRecord } from './record.ts'

let root: string
let layout: Layout
const warnings: Warning[] = []
const warn = (warning: Warning) => void warnings.push(warning)

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'cairn-record-'))
  layout = layoutOf({ root })
  makeLayout(realFiles, layout)
  warnings.length = 0
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

const nameOf = (name: string) => `${name}-${'a'.repeat(52)}` as StateName
const recordOf = (name: string): StateRecord => ({
  schema: 1,
  state: nameOf(name),
  kind: 'source',
  name,
  version: '1',
  inputs: { source: {} },
  contentSha256: '0'.repeat(64) as Sha256,
  size: 3,
  entries: 1,
  references: [nameOf('other')],
})

function recorded(name: string): StateRecord {
  const record = recordOf(name)
  mkdirSync(statePath(layout, record.state))
  writeRecord(realFiles, layout, record)
  return record
}

describe('a record', () => {
  it('is read as it was written', () => {
    const record = recorded('runc')
    expect(readRecord(realFiles, layout, record.state, warn)).toEqual(record)
    expect(warnings).toEqual([])
  })

  it('that is not there makes no state', () => {
    mkdirSync(statePath(layout, nameOf('runc')))
    expect(readRecord(realFiles, layout, nameOf('runc'), warn)).toBeNull()
  })

  it('without its directory is void and removed', () => {
    const record = recordOf('runc')
    writeRecord(realFiles, layout, record)
    expect(readRecord(realFiles, layout, record.state, warn)).toBeNull()
    expect(readdirSync(layout.records)).toEqual([])
  })

  it.each([
    ['cut short', '{"schema":1,'],
    ['empty', ''],
    ['null', 'null'],
    ['of another schema', JSON.stringify({ ...recordOf('runc'), schema: 2 })],
    ['of another state', JSON.stringify(recordOf('other'))],
    ['without references', JSON.stringify({ ...recordOf('runc'), references: undefined })],
    ['with references that are none', JSON.stringify({ ...recordOf('runc'), references: ['../x'] })],
    ['with a size that is none', JSON.stringify({ ...recordOf('runc'), size: '3' })],
  ])('that is %s is put aside and reported', (_, text) => {
    const { state } = recorded('runc')
    const path = recordPath(layout, state)
    writeFileSync(path, text)
    expect(readRecord(realFiles, layout, state, warn)).toBeNull()
    expect(warnings).toMatchObject([{ code: 'record.corrupt', path }])
    expect(readFileSync(`${path}.corrupt`, 'utf8')).toBe(text)
    expect(existsSync(path)).toBe(false)
  })
})

describe('listing records', () => {
  it('gives the valid ones, sorted, and passes by what is none', () => {
    recorded('b')
    recorded('a')
    writeRecord(realFiles, layout, recordOf('void'))
    writeFileSync(join(layout.records, 'notes.txt'), '')
    writeFileSync(join(layout.records, `${nameOf('b')}.list`), '')
    expect(recordedStates(realFiles, layout)).toEqual(['a', 'b', 'void'].map(nameOf))
    expect(listRecords(realFiles, layout, warn).map(record => record.name)).toEqual(['a', 'b'])
  })
})
