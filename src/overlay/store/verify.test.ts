import { appendFileSync, chmodSync, mkdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { faultyFiles } from '../../lib/files.fake.ts'
import { type Files, realFiles } from '../../lib/files.ts'
import type { Damage } from './damage.ts'
import { listingPath } from './listing.ts'
import type { StateRecord } from './record.ts'
import { makeStore, type TestStore } from './store.fake.ts'
import { quickCheck, verifyStates } from './verify.ts'

let store: TestStore
let record: StateRecord

beforeEach(() => {
  store = makeStore()
  record = store.addState('nginx', {
    'bin/nginx': '#!/bin/sh\nexec true\n',
    'etc/nginx.conf': 'worker_processes 1;\n',
    'lib/link': '-> ../bin/nginx',
    'a name\nwith a line break: and 3:more': 'odd',
    empty: '',
  })
})
afterEach(() => store.remove())

const verify = (files: Files = realFiles) => verifyStates(files, store.layout, [record])
const place = (path: string) => store.pathIn(record.state, path)

/** Runs a change inside the read-only state, and leaves the directories as they were. */
function tamper(path: string, change: (place: string) => void) {
  const directory = dirname(place(path))
  chmodSync(directory, 0o755)
  change(place(path))
  chmodSync(directory, 0o555)
}

const overwrite = (text: string) => (file: string) => {
  chmodSync(file, 0o644)
  writeFileSync(file, text)
  utimesSync(file, 1, 1)
  chmodSync(file, 0o444)
}

describe('verify', () => {
  it('finds nothing wrong with a state as it was installed', () => {
    expect(verify()).toEqual([])
  })

  it('changes nothing, damaged or not', () => {
    tamper('etc/nginx.conf', overwrite('worker_processes 2;\n'))
    const files = faultyFiles(realFiles)
    verify(files)
    expect(files.log).toEqual([])
  })

  it.each<[string, string, (file: string) => void, Pick<Damage, 'what' | 'detail'>]>([
    [
      'changed bytes of the same length, times put back',
      'etc/nginx.conf',
      overwrite('worker_processes 2;\n'),
      { what: 'bytes', detail: 'its 20 bytes are not those installed' },
    ],
    ['a file cut short', 'etc/nginx.conf', overwrite('work'), { what: 'bytes', detail: 'has 4 bytes, had 20' }],
    ['bytes added to an empty file', 'empty', overwrite('x'), { what: 'bytes', detail: 'has 1 bytes, had 0' }],
    [
      'a mode that lets the owner write',
      'etc/nginx.conf',
      file => chmodSync(file, 0o644),
      { what: 'mode', detail: 'is 0644, was 0444' },
    ],
    ['a lost exec bit', 'bin/nginx', file => chmodSync(file, 0o444), { what: 'mode', detail: 'is 0444, was 0555' }],
    ['a set-user-id bit', 'bin/nginx', file => chmodSync(file, 0o4555), { what: 'mode', detail: 'is 04555, was 0555' }],
    ['an open directory', 'lib', file => chmodSync(file, 0o777), { what: 'mode', detail: 'is 0777, was 0555' }],
    ['a file gone', 'etc/nginx.conf', file => rmSync(file), { what: 'missing', detail: 'the file is gone' }],
    [
      'a file more',
      'bin/extra',
      file => writeFileSync(file, '', { mode: 0o444 }),
      { what: 'extra', detail: 'a file that was not installed' },
    ],
    [
      'an empty directory more',
      'bin/extra',
      file => mkdirSync(file, 0o555),
      { what: 'extra', detail: 'a directory that was not installed' },
    ],
    [
      'a link that leads elsewhere',
      'lib/link',
      file => {
        rmSync(file)
        symlinkSync('/etc/shadow', file)
      },
      { what: 'link', detail: 'leads to /etc/shadow, led to ../bin/nginx' },
    ],
    [
      'a link in the place of a file',
      'etc/nginx.conf',
      file => {
        rmSync(file)
        symlinkSync('/etc/shadow', file)
      },
      { what: 'kind', detail: 'is a link, was a file' },
    ],
    [
      'damage to a file with an odd name',
      'a name\nwith a line break: and 3:more',
      overwrite('ODD'),
      { what: 'bytes', detail: 'its 3 bytes are not those installed' },
    ],
  ])('names %s', (_, path, change, damage) => {
    tamper(path, change)
    expect(verify()).toEqual([{ state: record.state, damage: [{ path, ...damage }] }])
  })

  it('names an unlocked state directory by the empty path', () => {
    chmodSync(place(''), 0o755)
    expect(verify()[0]?.damage).toEqual([{ path: '', what: 'mode', detail: 'is 0755, was 0555' }])
  })

  it('names every difference of every damaged state, and no sound one', () => {
    const sound = store.addState('sound')
    const other = store.addState('other')
    tamper('etc/nginx.conf', file => rmSync(file))
    tamper('empty', file => chmodSync(file, 0o600))
    chmodSync(store.pathIn(other.state, 'file'), 0o777)
    const damaged = verifyStates(realFiles, store.layout, [record, sound, other])
    expect(damaged.map(({ state, damage }) => [state, damage.map(each => each.path)])).toEqual([
      [record.state, ['empty', 'etc/nginx.conf']],
      [other.state, ['file']],
    ])
  })

  it('says that the directory is gone', () => {
    store.files.rename(place(''), `${store.layout.states}/.away`)
    expect(verify()[0]?.damage).toMatchObject([{ path: '', what: 'missing' }])
  })

  it('takes a file that the disk does not give back for damaged, and goes on', () => {
    const failing: Files = {
      ...realFiles,
      open: (path, flags, mode) => {
        if (path.endsWith('nginx.conf')) throw Object.assign(new Error('EIO: i/o error'), { code: 'EIO' })
        return realFiles.open(path, flags, mode)
      },
    }
    expect(verify(failing)[0]?.damage).toEqual([
      { path: 'etc/nginx.conf', what: 'bytes', detail: 'cannot be read: EIO: i/o error' },
    ])
  })

  it('finds damage without a listing, or with one that is not the right one, and says that it cannot name the bytes', () => {
    tamper('etc/nginx.conf', overwrite('worker_processes 2;\n'))
    tamper('empty', file => chmodSync(file, 0o600))
    appendFileSync(listingPath(store.layout, record.state), 'f 1:x 0 0\n')
    const expected = [
      { path: '', what: 'unknown' },
      { path: 'empty', what: 'mode' },
    ]
    expect(verify()[0]?.damage).toMatchObject(expected)
    rmSync(listingPath(store.layout, record.state))
    expect(verify()[0]?.damage).toMatchObject(expected)
  })
})

describe('the quick check', () => {
  const check = () => quickCheck(realFiles, store.layout, record)

  it('passes a state as it was installed', () => {
    expect(check()).toBe(true)
  })

  it('sees a missing file, a missing directory and another size', () => {
    tamper('empty', file => rmSync(file))
    expect(check()).toBe(false)
    tamper('empty', file => writeFileSync(file, 'x'))
    expect(check()).toBe(false)
    tamper('empty', overwrite(''))
    expect(check()).toBe(true)
    store.files.rename(place(''), `${store.layout.states}/.away`)
    expect(check()).toBe(false)
  })
})
