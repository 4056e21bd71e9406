import * as fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { realFiles } from '../../lib/files.ts'
import { driftOf } from './drift.ts'
import type { OwnedEtc } from './entry.ts'
import { type FakeMachine, fakeMachine, nobodyDeclared } from './etc.fake.ts'
import { readLive } from './live.ts'

let machine: FakeMachine
let owned: OwnedEtc
beforeEach(() => {
  machine = fakeMachine()
  owned = machine.apply(
    machine.want({ 'a/link': { text: 'one' }, 'a/copy': { text: 'two', mode: 0o640 }, 'a/direct': { direct: 'link' } }),
  )
})
afterEach(() => machine.remove())

const etc = (path: string) => join(machine.layout.etc, path)
const drift = (uid: number | null = null) => {
  const view = machine.view(owned, owned, { ids: { ...nobodyDeclared, uid } })
  return driftOf(readLive(realFiles, machine.layout, view, new Date()), owned).map(({ target, what }) => [target, what])
}

describe('driftOf', () => {
  it('is empty right after an apply', () => expect(drift()).toEqual([]))

  it('tells what is missing', () => {
    fs.rmSync(etc('a'), { recursive: true })
    expect(drift()).toEqual([
      ['a/copy', 'missing'],
      ['a/direct', 'missing'],
      ['a/link', 'missing'],
    ])
  })

  it('tells what was replaced', () => {
    for (const name of ['link', 'direct', 'copy']) fs.rmSync(etc(`a/${name}`))
    fs.symlinkSync('elsewhere', etc('a/direct'))
    fs.mkdirSync(etc('a/copy'))
    machine.write('a/link', 'one')
    expect(drift()).toEqual([
      ['a/copy', 'replaced'],
      ['a/direct', 'replaced'],
      ['a/link', 'replaced'],
    ])
  })

  it('tells everything that was edited in a copy', () => {
    machine.write('a/copy', 'mine', 0o600)
    expect(drift((process.geteuid?.() ?? 0) + 1)).toEqual([
      ['a/copy', 'edited'],
      ['a/copy', 'wrong-mode'],
      ['a/copy', 'wrong-owner'],
    ])
  })

  it('tells when static itself is gone or leads elsewhere', () => {
    fs.rmSync(machine.layout.static)
    expect(drift()).toEqual([[null, 'missing']])
    machine.apply(machine.want({}), owned)
    expect(drift()[0]).toEqual([null, 'replaced'])
  })
})
