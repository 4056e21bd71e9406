import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import { join, relative } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Files, realFiles } from '../../lib/files.ts'
import { findProgram } from '../../lib/run.ts'
import { linkThroughStatic } from '../layout.ts'
import { type OwnedEtc, ownsNothing } from './entry.ts'
import { type FakeMachine, fakeMachine, manyLinks, t, type Wish } from './etc.fake.ts'
import { type EtcView, type Live, readLive } from './live.ts'
import type { WantedEtc } from './owned.ts'

let machine: FakeMachine
beforeEach(() => {
  machine = fakeMachine()
})
afterEach(() => machine.remove())

const now = new Date('2026-03-01T12:00:00Z')
const read = (wanted: WantedEtc, owned: OwnedEtc = ownsNothing, more: Partial<EtcView> = {}) =>
  readLive(realFiles, machine.layout, machine.view(wanted, owned, more), now)
const liveAt = (target: string, ...rest: Parameters<typeof read>): Live | undefined =>
  read(...rest).targets.get(t(target))
const etc = (path: string) => join(machine.layout.etc, path)

describe('a target that Cairn has not made', () => {
  const wanted = (wish: Wish = { text: 'x' }) => machine.want({ 'd/t': wish })

  it('is absent, with the directories that lack', () => {
    expect(liveAt('d/t', wanted())).toEqual({ is: 'absent', missing: ['d'] })
    fs.mkdirSync(etc('d'))
    expect(liveAt('d/t', wanted())).toEqual({ is: 'absent', missing: [] })
  })

  it('is a foreign file, even with the very bytes and mode that are wanted', () => {
    machine.write('d/t', 'x', 0o600)
    expect(liveAt('d/t', wanted({ text: 'x', mode: 0o600 }))).toMatchObject({
      is: 'foreign',
      found: { what: 'file', size: 1 },
    })
  })

  it('is a foreign link, even one that leads to where it should', () => {
    fs.mkdirSync(etc('d'))
    fs.symlinkSync('/dev/null', etc('d/t'))
    expect(liveAt('d/t', wanted({ direct: '/dev/null' }))).toMatchObject({
      is: 'foreign',
      found: { what: 'link', text: '/dev/null' },
    })
  })

  it('is a foreign link also when it dangles', () => {
    fs.mkdirSync(etc('d'))
    fs.symlinkSync('nowhere', etc('d/t'))
    expect(liveAt('d/t', wanted())).toMatchObject({ is: 'foreign', found: { what: 'link' } })
  })

  it('is special when it is a pipe', () => {
    fs.mkdirSync(etc('d'))
    execFileSync(findProgram('mkfifo') ?? 'mkfifo', [etc('d/t')])
    expect(liveAt('d/t', wanted())).toMatchObject({ is: 'foreign', found: { what: 'special' } })
  })

  it('is a directory, with what it holds', () => {
    machine.write('d/t/in/file', 'x')
    expect(liveAt('d/t', wanted())).toMatchObject({
      is: 'directory',
      holds: { ours: [], foreign: ['d/t/in/file'], directories: ['d/t', 'd/t/in'] },
    })
  })

  it('has a bad parent when a link or a file is above it, however far', () => {
    machine.write('elsewhere/deep/t', 'x')
    fs.symlinkSync('elsewhere', etc('d'))
    expect(liveAt('d/deep/t', machine.want({ 'd/deep/t': { text: 'x' } }))).toMatchObject({
      is: 'bad-parent',
      parent: 'd',
      found: { is: 'foreign', found: { what: 'link' } },
    })
    fs.rmSync(etc('d'))
    machine.write('d', 'a file')
    expect(liveAt('d/t', wanted())).toMatchObject({ is: 'bad-parent', parent: 'd', found: { is: 'foreign' } })
  })

  it('has its bytes hashed only where they may have to be kept', () => {
    machine.write('d/t', 'x')
    expect(liveAt('d/t', wanted())).toMatchObject({ found: { sha256: null } })
    expect(liveAt('d/t', wanted({ text: 'x', replaceExisting: true }))).toMatchObject({
      found: { sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
    })
  })
})

describe('a target that Cairn has made', () => {
  const wishes: Record<string, Wish> = {
    'a/link': { text: 'one' },
    'a/copy': { text: 'two', mode: 0o640 },
    'a/direct': { direct: 'link' },
  }
  let wanted: WantedEtc
  let owned: OwnedEtc
  beforeEach(() => {
    wanted = machine.want(wishes)
    owned = machine.apply(wanted)
  })

  it('is ours, each kind', () => {
    const { targets } = read(wanted, owned)
    expect([...targets.values()].map(live => live.is)).toEqual(['ours', 'ours', 'ours'])
  })

  it('is ours by the text of the link, even if no record of it is left', () => {
    expect(liveAt('a/link', wanted, ownsNothing)).toEqual({ is: 'ours', made: { kind: 'link' } })
    expect(liveAt('a/copy', wanted, ownsNothing)).toMatchObject({ is: 'foreign' })
    expect(liveAt('a/direct', wanted, ownsNothing)).toMatchObject({ is: 'foreign' })
  })

  it('is foreign when a link is not exactly ours', () => {
    fs.rmSync(etc('a/link'))
    fs.symlinkSync(join('/cairn/etc/static/a/link'), etc('a/link'))
    expect(liveAt('a/link', wanted, owned)).toMatchObject({ is: 'foreign' })
  })

  it('is an edited copy, and says what was edited', () => {
    machine.write('a/copy', 'mine', 0o640)
    expect(liveAt('a/copy', wanted, owned)).toMatchObject({ is: 'edited', changed: ['content'] })
    machine.write('a/copy', 'two', 0o666)
    expect(liveAt('a/copy', wanted, owned)).toMatchObject({ is: 'edited', changed: ['mode'] })
    machine.write('a/copy', 'mine', 0o666)
    expect(liveAt('a/copy', wanted, owned)).toMatchObject({ is: 'edited', changed: ['content', 'mode'] })
  })

  it('is an edited copy when its owner is another', () => {
    const { uid } = fs.lstatSync(etc('a/copy'))
    const ids = { users: new Map(), groups: new Map(), uid: uid + 1, gid: null }
    expect(liveAt('a/copy', wanted, owned, { ids })).toMatchObject({ is: 'edited', changed: ['owner'] })
  })

  it('is ours when it is already as the next generation wants it', () => {
    machine.write('a/copy', 'three', 0o640)
    const next = machine.want({ ...wishes, 'a/copy': { text: 'three', mode: 0o640 } })
    expect(liveAt('a/copy', next, owned)).toMatchObject({ is: 'ours' })
  })

  it('counts as held by a directory when an entry is wanted in its place', () => {
    const next = machine.want({ a: { text: 'x' } })
    expect(liveAt('a', next, owned)).toMatchObject({
      holds: { ours: ['a/copy', 'a/direct', 'a/link'], foreign: [], directories: ['a'] },
    })
    machine.write('a/copy', 'edited', 0o640)
    machine.write('a/.mine', '')
    expect(liveAt('a', next, owned)).toMatchObject({
      holds: { ours: ['a/direct', 'a/link'], foreign: ['a/.mine', 'a/copy'] },
    })
  })

  it('leaves its directory to be read when nothing wanted needs it', () => {
    expect(read(wanted, owned).directories.size).toBe(0)
    expect(read(machine.want({}), owned).directories.get(t('a'))?.toSorted()).toEqual(['copy', 'direct', 'link'])
  })
})

describe('the whole', () => {
  it('says which etc state is shown, and what /etc itself is', () => {
    const wanted = machine.want({ a: { text: 'x' } })
    expect(read(wanted)).toMatchObject({ etc: 'directory', static: null })
    machine.apply(wanted)
    expect(read(wanted).static).toBe(wanted.etcState)
    fs.renameSync(machine.layout.etc, `${machine.layout.etc}.real`)
    expect(read(wanted).etc).toBe('absent')
    fs.symlinkSync('etc.real', machine.layout.etc)
    expect(read(wanted).etc).toBe('other')
  })

  it('costs one lstat and one readlink a link, one lstat a directory, and no write', () => {
    machine.apply(manyLinks(10))
    const aLink = realFiles.lstat(etc('d0/f0'))
    const targetOf = (path: string) => t(relative(machine.layout.etc, path))
    const linksEverywhere: Files = {
      ...realFiles,
      lstat: path => (/d\d\/f\d+$/.test(path) ? aLink : realFiles.lstat(path)),
      readlink: path =>
        /d\d\/f\d+$/.test(path) ? linkThroughStatic(machine.layout, targetOf(path)) : realFiles.readlink(path),
    }
    const callsFor = (count: number) => {
      const wanted = manyLinks(count)
      const owned = { ...ownsNothing, ...wanted }
      const { files, calls } = countedFiles(linksEverywhere)
      const { targets } = readLive(files, machine.layout, machine.view(wanted, owned), now)
      expect([...targets.values()].every(live => live.is === 'ours')).toBe(true)
      return calls
    }
    const overhead = { lstat: 10 + 2, readlink: 1 }
    for (const count of [100, 10_000])
      expect(callsFor(count)).toEqual({ lstat: count + overhead.lstat, readlink: count + overhead.readlink })
  })
})

function countedFiles(of: Files): { files: Files; calls: Record<string, number> } {
  const calls: Record<string, number> = {}
  const counted = Object.entries(of).map(([name, call]) => [
    name,
    (...args: unknown[]) => {
      calls[name] = (calls[name] ?? 0) + 1
      return (call as (...args: unknown[]) => unknown)(...args)
    },
  ])
  return { files: Object.fromEntries(counted) as Files, calls }
}
