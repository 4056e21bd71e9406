import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CairnError } from '../../lib/errors.ts'
import { faultyFiles } from '../../lib/files.fake.ts'
import type { Files } from '../../lib/files.ts'
import { findProgram } from '../../lib/run.ts'
import type { EtcAction } from './action.ts'
import { applyEtc } from './apply.ts'
import { type OwnedEtc, ownsNothing } from './entry.ts'
import {
  type FakeMachine,
  fakeMachine,
  fakeState,
  manyLinks,
  nobodyDeclared,
  noEtc,
  snapshotEtc,
  t,
  unsynced,
  type Wish,
} from './etc.fake.ts'
import type { EtcPlan } from './plan.ts'
import { isSettled } from './plan.ts'

let machine: FakeMachine
beforeEach(() => {
  machine = fakeMachine()
})
afterEach(() => machine.remove())

const etc = (path: string) => join(machine.layout.etc, path)
const read = (path: string) => fs.readFileSync(etc(path), 'utf8')
const modeOf = (path: string) => fs.lstatSync(etc(path)).mode & 0o7777
const all = (plan: EtcPlan) => [...plan.before, ...plan.switch, ...plan.after]
const codeOf = (work: () => void) => {
  try {
    work()
  } catch (error) {
    return error instanceof CairnError ? error.code : String(error)
  }
  return 'no error'
}

describe('links', () => {
  it('lead relatively through static, which leads relatively to the state', () => {
    const wanted = machine.want({ 'a/b/c': { text: 'one' }, d: { text: 'two' } })
    machine.apply(wanted)
    expect(fs.readlinkSync(etc('a/b/c'))).toBe('../../../cairn/etc/static/a/b/c')
    expect(fs.readlinkSync(machine.layout.static)).toBe(`../states/${wanted.etcState}/etc`)
    expect([read('a/b/c'), read('d')]).toEqual(['one', 'two'])
  })

  it('lead right under another root', () => {
    machine.apply(machine.want({ 'a/b': { text: 'one' } }))
    const moved = `${machine.root}-moved`
    fs.renameSync(machine.root, moved)
    try {
      expect(fs.readFileSync(join(moved, 'etc/a/b'), 'utf8')).toBe('one')
    } finally {
      fs.renameSync(moved, machine.root)
    }
  })

  it('may lead to a whole directory', () => {
    machine.apply(machine.want({ conf: { tree: { x: '1', 'y/z': '2' } } }))
    expect(fs.lstatSync(etc('conf')).isSymbolicLink()).toBe(true)
    expect(read('conf/y/z')).toBe('2')
  })

  it('cost one call each, and one sync a directory', () => {
    const files = faultyFiles({ ...unsynced, symlink: () => {}, rename: () => {} })
    machine.carryOut(machine.plan(manyLinks(10_000), ownsNothing), files)
    const calls = Object.groupBy(files.log, call => call.split(' ')[0] ?? '')
    const counts = Object.fromEntries(Object.entries(calls).map(([name, each]) => [name, each?.length]))
    const switching = { symlink: 1, rename: 1, fsync: 1 }
    expect(counts).toEqual({
      symlink: 10_000 + switching.symlink,
      rename: switching.rename,
      mkdir: 10,
      chmod: 10,
      fsync: 11 + switching.fsync,
    })
  })

  it('a thousand of them need nothing the second time', () => {
    const owned = machine.apply(manyLinks(1_000))
    expect(isSettled(machine.plan(manyLinks(1_000), owned))).toBe(true)
  })
})

describe('directories', () => {
  it('are made readable for all, whatever the umask is', () => {
    const umask = process.umask(0o077)
    try {
      machine.apply(machine.want({ 'a/b/c': { text: 'x' } }))
    } finally {
      process.umask(umask)
    }
    expect([modeOf('a'), modeOf('a/b')]).toEqual([0o755, 0o755])
  })

  it('of ours go when they empty, those of the distribution stay', () => {
    fs.mkdirSync(etc('distro'))
    const owned = machine.apply(machine.want({ 'distro/own/x': { text: 'x' }, 'ours/y': { text: 'y' } }))
    expect(owned.directories).toEqual(['distro/own', 'ours'])
    const next = machine.apply(machine.want({ z: { text: 'z' } }), owned)
    expect(fs.readdirSync(machine.layout.etc).toSorted()).toEqual(['distro', 'z'])
    expect(fs.readdirSync(etc('distro'))).toEqual([])
    expect(next.directories).toEqual([])
  })

  it('are inherited from generation to generation, and kept while someone else uses them', () => {
    let owned = machine.apply(machine.want({ 'a/b/x': { text: 'x' } }))
    owned = machine.apply(machine.want({ 'a/b/y': { text: 'y' } }), owned)
    machine.write('a/b/theirs', 'mine')
    owned = machine.apply(machine.want({}), owned)
    expect(owned.directories).toEqual(['a', 'a/b'])
    fs.rmSync(etc('a/b/theirs'))
    owned = machine.apply(noEtc, owned)
    expect(fs.readdirSync(machine.layout.etc)).toEqual([])
  })
})

describe('copies', () => {
  it('are files of their own with their mode', () => {
    machine.apply(machine.want({ a: { text: 'secret', mode: 0o600 }, b: { text: 'run', mode: 0o4755 } }))
    expect(fs.lstatSync(etc('a')).isFile()).toBe(true)
    expect([read('a'), modeOf('a'), modeOf('b')]).toEqual(['secret', 0o600, 0o4755])
  })

  // Only root may give a file away.
  it.runIf(process.geteuid?.() === 0)('get their owner before their mode, so that special bits stay', () => {
    const ids = { ...nobodyDeclared, users: new Map([['web', 4242]]) }
    const wanted = machine.want({ a: { text: 'x', mode: 0o4711, owner: 'web' } })
    const owned = machine.apply(wanted, ownsNothing, { ids })
    expect([fs.lstatSync(etc('a')).uid, modeOf('a')]).toEqual([4242, 0o4711])
    const moved = { ...ids, users: new Map([['web', 4343]]) }
    expect(machine.plan(wanted, owned, { ids: moved }).problems).toMatchObject([{ code: 'etc.conflict' }])
  })

  it('are rewritten only when content or metadata differ', () => {
    const owned = machine.apply(machine.want({ a: { text: 'x', mode: 0o600 }, b: { text: 'y', mode: 0o600 } }))
    const inode = fs.lstatSync(etc('a')).ino
    machine.apply(machine.want({ a: { text: 'x', mode: 0o600 }, b: { text: 'z', mode: 0o640 } }), owned)
    expect(fs.lstatSync(etc('a')).ino).toBe(inode)
    expect([read('b'), modeOf('b')]).toEqual(['z', 0o640])
  })

  it('are not made from a state that was damaged', () => {
    const wanted = machine.want({ a: { text: 'x', mode: 0o600 } })
    fs.writeFileSync(join(machine.layout.states, fakeState('demo', 'x'), 'file'), 'bad')
    expect(codeOf(() => machine.apply(wanted))).toBe('etc.source-changed')
    expect(fs.readdirSync(machine.layout.etc)).toEqual([])
  })

  it('take the label of the file that they replace', () => {
    machine.write('b', 'theirs')
    const owned = machine.apply(machine.want({ a: { text: 'x', mode: 0o600 } }))
    const plan = machine.plan(
      machine.want({ a: { text: 'y', mode: 0o600 }, b: { text: 'z', mode: 0o600, replaceExisting: true } }),
      owned,
    )
    const kept: string[] = []
    const keepLabel = (reference: string) => void kept.push(reference)
    applyEtc(all(plan), { files: unsynced, layout: machine.layout, keepLabel })
    expect(kept).toEqual([join(machine.layout.backups, 'b'), etc('a')])
  })
})

describe('kinds', () => {
  it.each([
    ['a link', { text: 'x' }],
    ['a copy', { text: 'x', mode: 0o600 }],
    ['an alias', { direct: 'elsewhere' }],
    ['a directory of entries', null],
  ])('change from %s to each other one and back', (_, first) => {
    const wishes = (wish: typeof first) =>
      wish ? { a: wish } : { 'a/b': { text: 'in it' }, 'a/c/d': { text: 'deeper' } }
    const others = [{ text: 'y' }, { text: 'y', mode: 0o640 }, { direct: 'other' }, null]
    let owned: OwnedEtc = ownsNothing
    for (const second of others) {
      for (const wish of [first, second]) {
        const wanted = machine.want(wishes(wish))
        owned = machine.apply(wanted, owned)
        expect(isSettled(machine.plan(wanted, owned))).toBe(true)
      }
      if (second === null) expect([read('a/b'), read('a/c/d')]).toEqual(['in it', 'deeper'])
      else if ('direct' in second) expect(fs.readlinkSync(etc('a'))).toBe('other')
      else expect(read('a')).toBe('y')
    }
    machine.apply(noEtc, owned)
    expect(fs.readdirSync(machine.layout.etc)).toEqual([])
  })
})

describe('taking over', () => {
  const things: [string, (path: string) => void][] = [
    ['a file', path => fs.writeFileSync(path, 'theirs', { mode: 0o640 })],
    ['a link', path => fs.symlinkSync('../somewhere', path)],
    [
      'a directory',
      path => {
        fs.mkdirSync(join(path, 'in'), { recursive: true })
        fs.writeFileSync(join(path, 'in/it'), 'theirs', { mode: 0o600 })
        fs.symlinkSync('it', join(path, 'in/link'))
        fs.chmodSync(path, 0o711)
      },
    ],
    ['a pipe', path => execFileSync(findProgram('mkfifo') ?? 'mkfifo', [path])],
  ]

  it.each(things)('%s keeps it, and gives it back as it was', (_, make) => {
    make(etc('a'))
    const before = snapshotEtc(machine.layout)
    const owned = machine.apply(machine.want({ a: { text: 'ours', replaceExisting: true } }))
    expect(read('a')).toBe('ours')
    expect(owned.backups.map(({ target }) => target)).toEqual(['a'])
    machine.apply(noEtc, owned)
    expect(snapshotEtc(machine.layout)).toEqual(before)
    expect(fs.readdirSync(machine.layout.backups)).toEqual([])
  })

  it.each<[string, (path: string) => void, Wish]>([
    [
      'a file that equals the copy of it, times and all',
      path => fs.writeFileSync(path, 'same'),
      { text: 'same', mode: 0o644 },
    ],
    ['an empty directory', path => fs.mkdirSync(path), { text: 'ours' }],
  ])('gives back %s', (_, make, wish) => {
    fs.mkdirSync(etc('d'))
    make(etc('d/a'))
    fs.lutimesSync(etc('d/a'), 1_700_000_000, 1_700_000_001)
    const before = snapshotEtc(machine.layout)
    machine.apply(noEtc, machine.apply(machine.want({ 'd/a': { ...wish, replaceExisting: true } })))
    expect(snapshotEtc(machine.layout)).toEqual(before)
  })

  it('gives back a link to itself where entries lay below', () => {
    fs.symlinkSync('a', etc('a'))
    const before = snapshotEtc(machine.layout)
    machine.apply(noEtc, machine.apply(machine.want({ 'a/a/a': { text: 'ours', replaceExisting: true } })))
    expect(snapshotEtc(machine.layout)).toEqual(before)
  })

  it('keeps a file under its own path', () => {
    machine.write('d/a', 'theirs')
    machine.apply(machine.want({ 'd/a': { text: 'ours', replaceExisting: true } }))
    expect(fs.readFileSync(join(machine.layout.backups, 'd/a'), 'utf8')).toBe('theirs')
  })

  it('keeps it where only its owner can look, for its directory may have hidden it', () => {
    machine.write('private/a', 'theirs')
    fs.chmodSync(etc('private'), 0o700)
    machine.apply(machine.want({ 'private/a': { text: 'ours', replaceExisting: true } }))
    expect(fs.lstatSync(machine.layout.backups).mode & 0o077).toBe(0)
  })

  it('never takes another directory for the one that it keeps', () => {
    machine.write('a/theirs', 'old')
    const wanted = machine.want({ a: { text: 'ours', replaceExisting: true } })
    const plan = machine.plan(wanted, ownsNothing)
    const back = machine.plan(noEtc, machine.carryOut(plan))
    fs.rmSync(etc('a'))
    machine.write('a/another', 'new')
    expect(codeOf(() => machine.carryOut(plan))).toBe('etc.changed-underfoot')
    expect(codeOf(() => machine.carryOut(back))).toBe('etc.changed-underfoot')
    expect(read('a/another')).toBe('new')
    expect(fs.readFileSync(join(machine.layout.backups, '.cairn-directories/a/theirs'), 'utf8')).toBe('old')
  })

  it('gives back what it took although the entry long since says nothing of it', () => {
    machine.write('a', 'theirs')
    let owned = machine.apply(machine.want({ a: { text: 'one', replaceExisting: true } }))
    owned = machine.apply(machine.want({ a: { text: 'two' } }), owned)
    expect(owned.backups).toHaveLength(1)
    machine.apply(machine.want({ b: { text: 'b' } }), owned)
    expect(read('a')).toBe('theirs')
  })

  it('brings a directory back with all that is in it when only one entry in it is wanted again', () => {
    machine.write('nginx/mime.types', 'theirs')
    machine.write('nginx/nginx.conf', 'theirs')
    const first = machine.want({ 'nginx/nginx.conf': { text: 'ours', replaceExisting: true } })
    const before = machine.apply(first)
    const after = machine.apply(
      machine.want({ nginx: { tree: { 'nginx.conf': 'all' }, replaceExisting: true } }),
      before,
    )
    expect(fs.existsSync(etc('nginx/mime.types'))).toBe(false)
    const back = machine.apply(first, after)
    expect([read('nginx/mime.types'), read('nginx/nginx.conf')]).toEqual(['theirs', 'ours'])
    expect(back).toEqual(before)
  })

  it('makes the directory again that a backup once stood in', () => {
    machine.write('d/e/a', 'theirs')
    const owned = machine.apply(machine.want({ 'd/e/a': { text: 'ours', replaceExisting: true } }))
    fs.rmSync(etc('d'), { recursive: true })
    machine.apply(noEtc, owned)
    expect(read('d/e/a')).toBe('theirs')
  })

  it('stops when something that no record knows is in the place of the backup', () => {
    machine.write('a', 'theirs')
    const plan = machine.plan(machine.want({ a: { text: 'ours', replaceExisting: true } }), ownsNothing)
    fs.writeFileSync(join(machine.layout.backups, 'a'), 'older')
    expect(codeOf(() => machine.carryOut(plan))).toBe('etc.backup-occupied')
    expect(read('a')).toBe('theirs')
  })

  describe('between two file systems', () => {
    /** Renames between /etc and the store fail, as between two mounts. */
    const apart = (): Files => ({
      ...unsynced,
      rename: (from, to) => {
        const inStore = (path: string) => path.startsWith(join(machine.root, 'cairn'))
        if (inStore(from) !== inStore(to)) throw Object.assign(new Error('EXDEV: injected'), { code: 'EXDEV' })
        unsynced.rename(from, to)
      },
    })
    const whole = (path: string) => {
      // Node sets times in whole microseconds.
      fs.lutimesSync(path, 1_700_000_000, 1_700_000_001)
      if (fs.lstatSync(path).isDirectory()) for (const name of fs.readdirSync(path)) whole(join(path, name))
    }

    it.each(things.slice(0, 3))('copies %s with its mode, owner and times', (_, make) => {
      make(etc('a'))
      whole(etc('a'))
      const before = snapshotEtc(machine.layout)
      const plan = machine.plan(machine.want({ a: { text: 'ours', replaceExisting: true } }), ownsNothing)
      const owned = machine.carryOut(plan, apart())
      expect(read('a')).toBe('ours')
      machine.carryOut(machine.plan(noEtc, owned), apart())
      expect(snapshotEtc(machine.layout)).toEqual(before)
      expect(fs.readdirSync(machine.layout.backups)).toEqual([])
    })

    it('cannot copy a pipe, says so, and leaves it', () => {
      things[3]?.[1](etc('a'))
      const before = snapshotEtc(machine.layout)
      const plan = machine.plan(machine.want({ a: { text: 'ours', replaceExisting: true } }), ownsNothing)
      expect(codeOf(() => machine.carryOut(plan, apart()))).toBe('etc.backup-impossible')
      expect(snapshotEtc(machine.layout)).toEqual(before)
    })

    it.each(things.slice(0, 3))('may be killed at any call and started again: %s is never lost', (_, make) => {
      make(etc('a'))
      whole(etc('a'))
      const before = snapshotEtc(machine.layout)
      const plan = machine.plan(machine.want({ a: { text: 'ours', replaceExisting: true } }), ownsNothing)
      for (let at = 1, killed = true; killed; at++) {
        const there = faultyFiles(apart(), { crashAt: at })
        killed = codeOf(() => machine.carryOut(plan, there)) !== 'no error'
        machine.carryOut(plan, apart())
        expect(read('a')).toBe('ours')

        const back = machine.plan(noEtc, plan.owned)
        const again = faultyFiles(apart(), { crashAt: at })
        codeOf(() => machine.carryOut(back, again))
        machine.carryOut(back, apart())
        expect(snapshotEtc(machine.layout).filter(line => !line.includes('.cairn-tmp-'))).toEqual(before)
        for (const name of fs.readdirSync(machine.layout.etc))
          if (name.startsWith('.cairn-tmp-')) fs.rmSync(etc(name), { recursive: true })
        fs.rmSync(machine.layout.backups, { recursive: true })
        fs.mkdirSync(machine.layout.backups)
      }
    })
  })
})

describe('what someone else does meanwhile', () => {
  const put = { kind: 'link' } as const
  const perform = (...actions: EtcAction[]) =>
    codeOf(() => applyEtc(actions, { files: unsynced, layout: machine.layout }))

  it('is never overwritten: each action stops at what it does not expect', () => {
    machine.write('a', 'theirs')
    machine.write('file/x', '')
    const copy = {
      kind: 'copy',
      state: fakeState('demo', 'x'),
      source: 'file',
      sha256: '' as never,
      mode: 0o600,
      uid: null,
      gid: null,
    } as const
    const directory = { kind: 'directory' } as const
    const backup = {
      target: t('a'),
      what: 'file',
      mode: 0o644,
      uid: 0,
      gid: 0,
      mtimeMs: 0,
      sha256: '' as never,
    } as const
    const target = t('a')
    const before = snapshotEtc(machine.layout)
    expect(perform({ do: 'add', target, put, why: 'new' })).toBe('etc.changed-underfoot')
    expect(perform({ do: 'add', target, put: copy, why: 'new' })).toBe('etc.changed-underfoot')
    expect(perform({ do: 'add', target, put: directory, why: 'new' })).toBe('etc.changed-underfoot')
    expect(perform({ do: 'remove', target, was: put, why: 'stray' })).toBe('etc.changed-underfoot')
    expect(perform({ do: 'replace', target, was: put, put: copy })).toBe('etc.changed-underfoot')
    expect(perform({ do: 'replace', target: t('file'), was: directory, put })).toBe('etc.changed-underfoot')
    expect(perform({ do: 'take-over', target, backup, put })).toBe('etc.changed-underfoot')
    fs.writeFileSync(join(machine.layout.backups, 'a'), '')
    expect(perform({ do: 'give-back', target, backup, was: put })).toBe('etc.changed-underfoot')
    expect(snapshotEtc(machine.layout)).toEqual(before)
  })

  it('cannot make Cairn write through a link: a parent that became one stops it', () => {
    const plan = machine.plan(machine.want({ 'd/a': { text: 'x' } }), ownsNothing)
    machine.write('elsewhere/x', '')
    fs.symlinkSync('elsewhere', etc('d'))
    expect(codeOf(() => machine.carryOut(plan))).toBe('etc.changed-underfoot')
    expect(fs.readdirSync(etc('elsewhere'))).toEqual(['x'])
  })

  it('cannot make Cairn remove through a link', () => {
    const owned = machine.apply(machine.want({ 'd/a': { text: 'x' } }))
    const plan = machine.plan(noEtc, owned)
    fs.renameSync(etc('d'), etc('moved'))
    fs.symlinkSync('moved', etc('d'))
    machine.carryOut(plan)
    expect(fs.readdirSync(etc('moved'))).toEqual(['a'])
  })

  it('keeps a directory into which a file was put a moment ago', () => {
    const owned = machine.apply(machine.want({ 'd/a': { text: 'x' } }))
    const plan = machine.plan(noEtc, owned)
    machine.write('d/theirs', 'x')
    machine.carryOut(plan)
    expect(fs.readdirSync(etc('d'))).toEqual(['theirs'])
  })

  it('is overwritten where that was allowed, and only what was seen then', () => {
    const wanted = machine.want({ a: { text: 'x', mode: 0o600 } })
    const owned = machine.apply(wanted)
    machine.write('a', 'edited', 0o600)
    const plan = machine.plan(wanted, owned, { overwriteDrift: new Set([t('a')]) })
    machine.write('a', 'edited again', 0o600)
    expect(codeOf(() => machine.carryOut(plan))).toBe('etc.changed-underfoot')
    machine.write('a', 'edited', 0o600)
    machine.carryOut(plan)
    expect(read('a')).toBe('x')
  })
})

it('every action may be repeated', () => {
  machine.write('taken', 'theirs')
  machine.write('whole/x', 'theirs')
  const first = machine.want({
    gone: { text: '1' },
    leaf: { text: '1' },
    'tree/x': { text: '1' },
    kind: { text: '1' },
    taken: { text: '1', replaceExisting: true },
  })
  const second = machine.want({
    'leaf/x': { text: '2' },
    tree: { text: '2', mode: 0o600 },
    kind: { text: '2', mode: 0o600 },
    whole: { text: '2', replaceExisting: true },
    new: { direct: 'x' },
  })
  let owned = ownsNothing
  for (const wanted of [first, second, first, noEtc]) {
    const plan = machine.plan(wanted, owned)
    owned = machine.carryOut(plan)
    const done = snapshotEtc(machine.layout)
    machine.carryOut(plan)
    expect(snapshotEtc(machine.layout)).toEqual(done)
  }
  expect(fs.readdirSync(machine.layout.etc, { recursive: true }).toSorted()).toEqual(['taken', 'whole', 'whole/x'])
})

it('an overlay without entries leaves /etc as it is', () => {
  machine.write('sudoers', 'root ALL=(ALL:ALL) ALL\n', 0o440)
  const before = snapshotEtc(machine.layout)
  const owned = machine.apply(machine.want({}))
  expect(snapshotEtc(machine.layout)).toEqual(before)
  machine.apply(noEtc, owned)
  expect(snapshotEtc(machine.layout)).toEqual(before)
})
