// On values: what /etc is, what is wanted, what the plan says. No disk.
import { describe, expect, it } from 'vitest'
import type { Sha256 } from '../names.ts'
import { type Backup, type EtcEntry, type OwnedEtc, ownsNothing } from './entry.ts'
import { fakeState, nobodyDeclared, t } from './etc.fake.ts'
import type { Live, LiveEtc } from './live.ts'
import type { Found, Made } from './made.ts'
import type { WantedEtc } from './owned.ts'
import { isSettled, planEtc } from './plan.ts'
import type { EtcScan } from './scan.ts'

const now = new Date('2026-03-04T12:00:00Z')
const oldState = fakeState('etc', 'old')
const newState = fakeState('etc', 'new')
const hash = (content: string) => content as Sha256

const common = (target: string) => ({
  target: t(target),
  from: 'caddy',
  declaredAt: `packageByNames.caddy.etcFiles[0]`,
})
const link = (target: string, content = 'one', flags: { replaceExisting?: true } = {}): EtcEntry => ({
  kind: 'link',
  ...common(target),
  state: fakeState('caddy', content),
  source: target,
  sha256: hash(content),
  ...flags,
})
const copy = (target: string, content = 'one', more: { mode?: number; replaceExisting?: true } = {}): EtcEntry => ({
  kind: 'copy',
  ...common(target),
  state: fakeState('caddy', content),
  source: target,
  sha256: hash(content),
  mode: 0o640,
  ...more,
})
const direct = (target: string, text = '/dev/null'): EtcEntry => ({ kind: 'direct', ...common(target), text })

const madeCopy = (content = 'one', mode = 0o640): Made => ({
  kind: 'copy',
  state: fakeState('caddy', content),
  source: 'x',
  sha256: hash(content),
  mode,
  uid: null,
  gid: null,
})
const aFile: Found = {
  what: 'file',
  mode: 0o644,
  uid: 0,
  gid: 0,
  mtimeMs: now.getTime() - 3 * 86_400_000,
  size: 1234,
  sha256: hash('theirs'),
}
const aDirectory: Found = { ...aFile, what: 'directory', sha256: null }
const aLink: Found = { ...aFile, what: 'link', text: '../run/x' }
const backup = (target: string, what: Backup['what'] = 'file'): Backup => {
  const { size: _, text: __, ...record } = { ...aFile, what }
  return { target: t(target), ...record }
}

const absent: Live = { is: 'absent', missing: [] }
const ours = (made: Made = { kind: 'link' }): Live => ({ is: 'ours', made })
const foreign = (found = aFile): Live => ({ is: 'foreign', found })
const holding = (ours: string[], foreign: string[], directories: string[]): Live => ({
  is: 'directory',
  found: aDirectory,
  holds: { ours: ours.map(t), foreign: foreign.map(t), directories: directories.map(t) },
})

interface Scene {
  wanted?: EtcEntry[]
  owned?: EtcEntry[]
  live?: Record<string, Live>
  directories?: string[]
  /** Of our directories that nothing needs: the names in them. */
  names?: Record<string, string[]>
  backups?: Backup[]
  static?: LiveEtc['static']
  to?: WantedEtc['etcState']
  overwrite?: string[]
  scan?: EtcScan
  etc?: LiveEtc['etc']
}

function plan(scene: Scene) {
  const { wanted = [], owned = [], live = {}, directories = [], names = {}, backups = [], overwrite = [], scan } = scene
  const byTarget = (entries: EtcEntry[]) => entries.toSorted((a, b) => (a.target < b.target ? -1 : 1))
  const etcState = owned.length > 0 ? oldState : null
  const ownedEtc: OwnedEtc = { etcState, entries: byTarget(owned), directories, backups }
  return planEtc({
    wanted: { etcState: scene.to === undefined ? newState : scene.to, entries: byTarget(wanted) },
    owned: ownedEtc,
    ids: nobodyDeclared,
    overwriteDrift: new Set(overwrite.map(t)),
    live: {
      etc: scene.etc ?? 'directory',
      static: scene.static === undefined ? etcState : scene.static,
      targets: new Map(Object.entries(live).map(([target, each]) => [t(target), each])),
      directories: new Map(Object.entries(names).map(([target, each]) => [t(target), each])),
      backups: new Set(backups.map(({ target }) => target)),
      readAt: now,
    },
    ...(scan ? { scan } : {}),
  })
}

/** `add a/b`, `replace a`, in order. */
const steps = (actions: readonly { do: string; target?: string; path?: string }[]) =>
  actions.map(action => `${action.do} ${action.target ?? action.path ?? ''}`.trim())

describe('new targets', () => {
  it('are added before the switch, after their directories', () => {
    const result = plan({
      wanted: [link('d/e/new'), copy('d/copy'), direct('alias')],
      live: {
        'd/e/new': { is: 'absent', missing: [t('d'), t('d/e')] },
        'd/copy': { is: 'absent', missing: [t('d')] },
        alias: absent,
      },
    })
    expect(steps(result.before)).toEqual(['add d', 'add d/e', 'add alias', 'add d/copy', 'add d/e/new'])
    expect(result.switch).toEqual([{ do: 'switch', from: null, to: newState }])
    expect(result.after).toEqual([])
    expect(result.owned).toMatchObject({ etcState: newState, directories: ['d', 'd/e'], backups: [] })
    expect(result.summary.add.map(({ target, reason, from }) => [target, reason, from])).toEqual([
      ['alias', 'new', 'caddy'],
      ['d/copy', 'new', 'caddy'],
      ['d/e/new', 'new', 'caddy'],
    ])
  })

  it('come after the litter of a killed apply is swept', () => {
    const scan = { links: [], litter: ['d/.cairn-tmp-1'] }
    expect(steps(plan({ wanted: [link('a')], live: { a: absent }, scan }).before)).toEqual([
      'sweep d/.cairn-tmp-1',
      'add a',
    ])
  })
})

describe('targets that stay', () => {
  it('need nothing at all when they are right', () => {
    const entries = [link('a'), copy('b'), direct('c')]
    const live = { a: ours(), b: ours(madeCopy()), c: ours({ kind: 'direct', text: '/dev/null' }) }
    const result = plan({ wanted: entries, owned: entries, live, to: oldState })
    expect(isSettled(result)).toBe(true)
    expect(result.summary).toEqual({ add: [], change: [], remove: [], conflict: [] })
  })

  it('change through static alone when they are links, and the summary says so', () => {
    const result = plan({
      wanted: [link('a', 'two'), link('b')],
      owned: [link('a'), link('b')],
      live: { a: ours(), b: ours() },
    })
    expect([result.before, result.after]).toEqual([[], []])
    expect(result.switch).toEqual([{ do: 'switch', from: oldState, to: newState }])
    expect(result.summary.change).toEqual([{ target: 'a', reason: 'content changed', from: 'caddy' }])
  })

  it('are told once when a unit changes that is also wanted by a target', () => {
    const [unit, wish] = ['systemd/system/web.service', 'systemd/system/multi-user.target.wants/web.service'] as const
    const result = plan({
      wanted: [link(unit, 'two'), link(wish, 'two')],
      owned: [link(unit), link(wish)],
      live: { [unit]: ours(), [wish]: ours() },
    })
    expect(result.summary.change.map(({ target }) => target)).toEqual([unit])
  })

  it.each([
    ['a copy with new content', copy('a'), ours(madeCopy()), copy('a', 'two'), 'content changed'],
    ['a copy with a new mode', copy('a'), ours(madeCopy()), copy('a', 'one', { mode: 0o600 }), 'mode 0640 → 0600'],
    [
      'an alias that leads elsewhere',
      direct('a'),
      ours({ kind: 'direct', text: '/dev/null' }),
      direct('a', 'b'),
      'leads to "b" instead of "/dev/null"',
    ],
    ['a copy that becomes a link', copy('a'), ours(madeCopy()), link('a'), 'was a copy, becomes a link'],
    [
      'an alias that becomes a link',
      direct('a'),
      ours({ kind: 'direct', text: '/dev/null' }),
      link('a'),
      'was a direct link, becomes a link',
    ],
  ])('are replaced after the switch: %s', (_, was, live, wanted, reason) => {
    const result = plan({ wanted: [wanted], owned: [was], live: { a: live } })
    expect(result.before).toEqual([])
    expect(steps(result.after)).toEqual(['replace a'])
    expect(result.summary.change).toMatchObject([{ target: 'a', reason }])
  })

  it.each([
    ['a copy', copy('a')],
    ['an alias', direct('a')],
  ])('are replaced before the switch when a link becomes %s, for static may not have it afterwards', (_, wanted) => {
    const result = plan({ wanted: [wanted], owned: [link('a')], live: { a: ours() } })
    expect(steps(result.before)).toEqual(['replace a'])
    expect(result.after).toEqual([])
  })

  it('are not rewritten when only the state that the same copy comes from is another', () => {
    const moved = { ...copy('a'), state: fakeState('caddy', 'elsewhere') } as EtcEntry
    const result = plan({ wanted: [moved], owned: [copy('a')], live: { a: ours(madeCopy()) } })
    expect([result.before, result.after, result.summary.change]).toEqual([[], [], []])
  })

  it('are put back in the same generation when they went missing', () => {
    const entries = [link('d/a')]
    const result = plan({
      wanted: entries,
      owned: entries,
      live: { 'd/a': { is: 'absent', missing: [t('d')] } },
      directories: ['d'],
      to: oldState,
    })
    expect(steps(result.before)).toEqual(['add d', 'add d/a'])
    expect(result.switch).toEqual([])
    expect(result.summary.change).toMatchObject([{ target: 'd/a', reason: 'went missing' }])
    expect(result.owned.directories).toEqual(['d'])
  })

  it('get static back when that went missing', () => {
    const result = plan({ wanted: [link('a')], owned: [link('a')], live: { a: ours() }, static: null, to: oldState })
    expect(result.switch).toEqual([{ do: 'switch', from: null, to: oldState }])
  })
})

describe('conflicts', () => {
  it.each<[string, Live, string]>([
    ['a file', foreign(), '/etc/a exists and was not made by Cairn (a file, 1.2 kB, changed 3 days ago)'],
    ['a link', foreign(aLink), '/etc/a exists and was not made by Cairn (a link to "../run/x")'],
    [
      'a pipe',
      foreign({ ...aFile, what: 'special' }),
      '/etc/a exists and was not made by Cairn (a device, pipe or socket)',
    ],
    [
      'a directory',
      holding([], ['a/x', 'a/y'], ['a']),
      '/etc/a is a directory and was not made by Cairn alone (it holds a/x and 1 more)',
    ],
    [
      'an empty directory',
      holding([], [], ['a']),
      '/etc/a is a directory and was not made by Cairn alone (nothing of Cairn is in it)',
    ],
    [
      'an edited copy',
      { is: 'edited', changed: ['content', 'mode'], found: aFile },
      '/etc/a was changed since Cairn wrote it (content, mode changed, 3 days ago)',
    ],
    [
      'a linked parent',
      { is: 'bad-parent', parent: t('p'), found: foreign(aLink) },
      '/etc/a cannot be placed: /etc/p is a link to "../run/x" and was not made by Cairn',
    ],
  ])('with %s stop everything and say what is there', (_, live, reason) => {
    const result = plan({ wanted: [link('a'), link('b')], live: { a: live, b: absent } })
    expect(result.problems).toMatchObject([{ code: 'etc.conflict', path: 'packageByNames.caddy.etcFiles[0]', reason }])
    expect(isSettled(result)).toBe(true)
    expect(result.owned).toEqual(ownsNothing)
    expect(result.summary.conflict).toEqual([{ target: 'a', reason, from: 'caddy' }])
  })

  it('are all listed', () => {
    const result = plan({ wanted: [link('a'), link('b'), link('c')], live: { a: foreign(), b: absent, c: foreign() } })
    expect(result.summary.conflict.map(({ target }) => target)).toEqual(['a', 'c'])
    expect(result.problems).toHaveLength(2)
  })

  it('name the field that takes over, where there is one', () => {
    const hintFor = (entry: EtcEntry) => plan({ wanted: [entry], live: { a: foreign() } }).problems[0]?.hint
    expect(hintFor(link('a'))).toContain('replaceExisting: true on packageByNames.caddy.etcFiles[0]')
    expect(hintFor({ ...link('a'), declaredAt: 'systemdUnitsByName["a.service"]' })).toBe('Move it away.')
  })

  it('include /etc itself when it is a link', () => {
    expect(plan({ wanted: [], etc: 'other' }).problems).toMatchObject([{ code: 'etc.not-a-directory' }])
  })
})

describe('replaceExisting', () => {
  const flag = { replaceExisting: true } as const

  it('takes over what is there, first of all, and remembers it', () => {
    const result = plan({
      wanted: [link('b', 'one', flag), link('a')],
      live: { a: { is: 'absent', missing: [] }, b: foreign() },
    })
    expect(steps(result.before)).toEqual(['take-over b', 'add a'])
    expect(result.owned.backups).toEqual([backup('b')])
    expect(result.summary.add).toMatchObject([
      { target: 'a' },
      { target: 'b', reason: expect.stringContaining('backup') },
    ])
  })

  it('takes over a file or link where a directory is needed, when every entry below says so', () => {
    const bad: Live = { is: 'bad-parent', parent: t('p'), found: foreign(aLink) }
    const both = plan({
      wanted: [link('p/q/a', 'one', flag), link('p/b', 'one', flag)],
      live: { 'p/q/a': bad, 'p/b': bad },
    })
    expect(steps(both.before)).toEqual(['take-over p', 'add p/q', 'add p/b', 'add p/q/a'])
    expect(both.owned).toMatchObject({ directories: ['p', 'p/q'], backups: [{ target: 'p', what: 'link' }] })
    const one = plan({ wanted: [link('p/a', 'one', flag), link('p/b')], live: { 'p/a': bad, 'p/b': bad } })
    expect(one.summary.conflict.map(({ target }) => target)).toEqual(['p/b'])
    expect(one.before).toEqual([])
  })

  it('keeps the first backup: what came there later is a conflict', () => {
    const entry = link('a', 'one', flag)
    const result = plan({ wanted: [entry], owned: [entry], live: { a: foreign() }, backups: [backup('a')] })
    expect(result.problems).toMatchObject([
      { code: 'etc.conflict', hint: expect.stringContaining('--overwrite-drift a') },
    ])
  })

  it('finds no room for a backup below or above another', () => {
    const bad: Live = { is: 'bad-parent', parent: t('p'), found: foreign() }
    const above = plan({
      wanted: [link('p/a', 'one', flag)],
      owned: [link('p/a', 'one', flag)],
      live: { 'p/a': bad },
      backups: [backup('p/a')],
    })
    expect(above.problems).toHaveLength(1)
    const below = plan({
      wanted: [link('p/a', 'one', flag), link('p/b', 'one', flag)],
      owned: [link('p/a')],
      live: { 'p/a': ours(), 'p/b': foreign(), p: holding([], [], []) },
      directories: ['p'],
      backups: [backup('p')],
    })
    expect(below.summary.conflict.map(({ target }) => target)).toEqual(['p/b'])
  })
})

describe('drift', () => {
  it('is overwritten only where that was asked for', () => {
    const edited: Live = { is: 'edited', changed: ['content'], found: aFile }
    const scene = { wanted: [copy('a')], owned: [copy('a')], live: { a: edited }, to: oldState }
    expect(plan(scene).problems).toMatchObject([{ hint: expect.stringContaining('--overwrite-drift a') }])
    const result = plan({ ...scene, overwrite: ['a'] })
    expect(result.after).toMatchObject([{ do: 'replace', target: 'a', over: { sha256: 'theirs' } }])
    expect(result.summary.change).toMatchObject([{ target: 'a', reason: expect.stringContaining('put right') }])
  })

  it('of a link that was replaced is overwritten too, but never what Cairn does not own', () => {
    expect(
      steps(plan({ wanted: [link('a')], owned: [link('a')], live: { a: foreign() }, overwrite: ['a'] }).after),
    ).toEqual(['replace a'])
    expect(plan({ wanted: [link('a')], live: { a: foreign() }, overwrite: ['a'] }).problems).toHaveLength(1)
  })
})

describe('targets that go', () => {
  it('are removed after the switch, then the directories of ours that empty, innermost first', () => {
    const result = plan({
      owned: [link('d/e/a'), link('d/e/b'), link('x/y')],
      live: { 'd/e/a': ours(), 'd/e/b': absent, 'x/y': ours() },
      directories: ['d', 'd/e'],
      names: { d: ['e'], 'd/e': ['a'] },
    })
    expect(result.before).toEqual([])
    expect(steps(result.after)).toEqual(['remove x/y', 'remove d/e/a', 'remove d/e', 'remove d'])
    expect(result.owned.directories).toEqual([])
    expect(result.summary.remove.map(({ target, reason }) => [target, reason])).toEqual([
      ['d/e/a', 'no longer declared'],
      ['d/e/b', 'no longer declared'],
      ['x/y', 'no longer declared'],
    ])
  })

  it('leave a directory of ours where something else is in it, and it stays ours', () => {
    const result = plan({
      owned: [link('d/e/a')],
      live: { 'd/e/a': ours() },
      directories: ['d', 'd/e'],
      names: { d: ['e'], 'd/e': ['a', 'theirs'] },
    })
    expect(steps(result.after)).toEqual(['remove d/e/a'])
    expect(result.owned.directories).toEqual(['d', 'd/e'])
  })

  it.each<[string, EtcEntry, Live]>([
    ['a link that points elsewhere', link('a'), foreign(aLink)],
    ['an edited copy', copy('a'), { is: 'edited', changed: ['content'], found: aFile }],
    ['a directory', link('a'), holding([], [], [])],
    ['something out of reach', link('a'), { is: 'bad-parent', parent: t('p'), found: foreign() }],
  ])('are left, with a warning, when they have become %s', (_, entry, live) => {
    const result = plan({ owned: [entry], live: { a: live } })
    expect(result.after).toEqual([])
    expect(result.warnings).toMatchObject([{ code: 'etc.left-in-place' }])
    expect(result.owned.entries).toEqual([])
    expect(result.summary.remove).toMatchObject([{ reason: expect.stringContaining('left in place') }])
  })

  it('give back what they had taken over', () => {
    const result = plan({
      owned: [link('a'), link('b')],
      live: { a: ours(), b: absent },
      backups: [backup('a'), backup('b')],
    })
    expect(steps(result.after)).toEqual(['give-back b', 'give-back a'])
    expect(result.owned.backups).toEqual([])
    expect(result.summary.remove).toMatchObject([{ reason: expect.stringContaining('comes back') }, {}])
  })

  it('keep the backup, with a warning, while something else is in its place', () => {
    const result = plan({ owned: [link('a')], live: { a: foreign() }, backups: [backup('a')] })
    expect(result.after).toEqual([])
    expect(result.warnings.map(({ code }) => code)).toEqual(['etc.left-in-place', 'etc.backup-kept'])
    expect(result.owned.backups).toEqual([backup('a')])
    const later = plan({ live: { a: absent }, backups: [backup('a')], to: null })
    expect(steps(later.after)).toEqual(['give-back a'])
  })

  it('are all of them on uninstall, and static with them', () => {
    const result = plan({ owned: [link('a')], live: { a: ours() }, to: null })
    expect(result.switch).toEqual([{ do: 'switch', from: oldState, to: null }])
    expect(steps(result.after)).toEqual(['remove a'])
    expect(result.owned).toEqual(ownsNothing)
  })
})

describe('a scan', () => {
  it('finds links that no manifest knows: ours go, another’s alias stays with a warning', () => {
    const result = plan({
      wanted: [link('a')],
      live: { a: ours() },
      scan: {
        litter: [],
        links: [
          { target: t('a'), text: '../cairn/etc/static/a', own: true },
          { target: t('alias'), text: '../cairn/etc/static/a', own: false },
          { target: t('lost'), text: '/cairn/etc/static/lost', own: true },
        ],
      },
    })
    expect(steps(result.after)).toEqual(['remove lost'])
    expect(result.warnings).toMatchObject([{ code: 'etc.alias-left' }])
    expect(result.summary.remove).toMatchObject([{ target: 'lost' }])
  })
})

describe('between an entry and a directory of entries', () => {
  it('goes from inside out when the directory becomes an entry', () => {
    const result = plan({
      wanted: [link('a')],
      owned: [link('a/b/c'), link('a/d')],
      live: { a: holding(['a/b/c', 'a/d'], [], ['a', 'a/b']), 'a/b/c': ours(), 'a/d': ours() },
      directories: ['a', 'a/b'],
      names: { a: ['b', 'd'], 'a/b': ['c'] },
    })
    expect(steps(result.after)).toEqual(['remove a/d', 'remove a/b/c', 'remove a/b', 'replace a'])
    expect(result.owned).toMatchObject({ directories: [], backups: [] })
  })

  it('goes from outside in when the entry becomes a directory', () => {
    const below: Live = { is: 'bad-parent', parent: t('a'), found: ours() }
    const result = plan({
      wanted: [link('a/b/c'), link('a/d')],
      owned: [link('a')],
      live: { a: ours(), 'a/b/c': below, 'a/d': below },
    })
    expect(result.before).toEqual([])
    expect(steps(result.after)).toEqual(['replace a', 'add a/b', 'add a/b/c', 'add a/d'])
    expect(result.owned.directories).toEqual(['a', 'a/b'])
    expect(result.summary.remove).toMatchObject([{ target: 'a' }])
  })

  it('keeps a directory that is not ours, though only ours is in it, to give it back one day', () => {
    const result = plan({
      wanted: [link('a')],
      owned: [link('a/b')],
      live: { a: holding(['a/b'], [], ['a']), 'a/b': ours() },
    })
    expect(steps(result.after)).toEqual(['remove a/b', 'take-over a'])
    expect(result.owned.backups).toMatchObject([{ target: 'a', what: 'directory' }])
  })

  it('is a conflict when the directory holds something else, also something that would come back into it', () => {
    const scene = { wanted: [link('a')], owned: [link('a/b')], directories: ['a'], names: { a: ['b'] } }
    const withFile = plan({ ...scene, live: { a: holding(['a/b'], ['a/x'], ['a']), 'a/b': ours() } })
    expect(withFile.summary.conflict).toHaveLength(1)
    const withBackup = plan({
      ...scene,
      live: { a: holding(['a/b'], [], ['a']), 'a/b': ours() },
      backups: [backup('a/b')],
    })
    expect(withBackup.summary.conflict).toHaveLength(1)
  })

  it('keeps the backup of a directory that cannot come back yet', () => {
    const result = plan({
      wanted: [link('x/a/b')],
      owned: [link('x/a')],
      live: { 'x/a': { is: 'absent', missing: [t('x')] }, 'x/a/b': { is: 'absent', missing: [t('x'), t('x/a')] } },
      backups: [backup('x/a', 'directory')],
    })
    expect(result.owned.backups).toEqual([backup('x/a', 'directory')])
  })

  it('gives a directory back before an entry is put into it', () => {
    const behind: Live = { is: 'absent', missing: [t('a/b')] }
    const result = plan({
      wanted: [link('a/b/c')],
      owned: [link('a')],
      live: { a: ours(), 'a/b/c': { is: 'bad-parent', parent: t('a'), found: ours(), behind } },
      backups: [backup('a', 'directory')],
    })
    expect(steps(result.after)).toEqual(['give-back a', 'add a/b', 'add a/b/c'])
    expect(result.owned).toMatchObject({ directories: ['a/b'], backups: [] })
  })
})

it('survives its way through a journal', () => {
  const result = plan({
    wanted: [copy('a'), link('b', 'one', { replaceExisting: true }), copy('c', 'two')],
    owned: [copy('c')],
    live: { a: absent, b: foreign(), c: { is: 'edited', changed: ['mode'], found: aFile } },
    overwrite: ['c'],
  })
  expect(JSON.parse(JSON.stringify(result))).toEqual(result)
})
