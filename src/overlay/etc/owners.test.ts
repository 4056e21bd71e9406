import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { realFiles } from '../../lib/files.ts'
import { layoutOf } from '../layout.ts'
import type { Sha256 } from '../names.ts'
import type { CopyEntry } from './entry.ts'
import { type FakeMachine, fakeMachine, fakeState, t } from './etc.fake.ts'
import { madeOf } from './made.ts'
import { type Applier, resolveOwners, thisProcess } from './owners.ts'

const copy = (owner?: string, group?: string): CopyEntry => ({
  kind: 'copy',
  target: t('x'),
  from: 'p',
  declaredAt: 'packageByNames.p.etcFiles[0]',
  state: fakeState('p', ''),
  source: 'x',
  sha256: '' as Sha256,
  mode: 0o600,
  ...(owner === undefined ? {} : { owner }),
  ...(group === undefined ? {} : { group }),
})

const root: Applier = { uid: 0, groups: [0], lookUp: async () => null }
const someone: Applier = { uid: 1000, groups: [1000, 27], lookUp: async () => null }

let machine: FakeMachine
beforeEach(() => {
  machine = fakeMachine()
  machine.write(
    'passwd',
    '# comment\nroot:x:0:0::/root:/bin/sh\nweb:x:1000:1000::/:/bin/false\nweb:x:1:1::/:\nbroken\n',
  )
  machine.write('group', 'root:x:0:\nweb:x:1000:\nadm:x:27:\n')
})
afterEach(() => machine.remove())

const resolve = (applier: Applier, ...wanted: CopyEntry[]) =>
  resolveOwners({ files: realFiles, layout: machine.layout, applier }, { wanted, owned: [] })

describe('resolveOwners', () => {
  it('reads names from the passwd and group below the root, and takes +id as it stands', async () => {
    const entry = copy('web', 'adm')
    const { ids, problems } = await resolve(root, entry, copy('+4242', '+0'))
    expect(problems).toEqual([])
    expect(madeOf(entry, ids)).toMatchObject({ uid: 1000, gid: 27 })
    expect(madeOf(copy('+4242', '+0'), ids)).toMatchObject({ uid: 4242, gid: 0 })
  })

  it('leaves an owner that is not declared to whoever applies', async () => {
    const { ids } = await resolve(root, copy())
    expect(madeOf(copy(), ids)).toMatchObject({ uid: null, gid: null })
  })

  it.each(['nobody-here', '0', '1000', '+', '+99999999999', '+4294967295', '-1', ''])(
    'refuses %j, and never falls back to root',
    async name => {
      const { ids, problems } = await resolve(root, copy(name, name))
      expect(problems.map(({ code, path }) => [code, path])).toEqual([
        ['etc.unknown-owner', 'packageByNames.p.etcFiles[0].owner'],
        ['etc.unknown-owner', 'packageByNames.p.etcFiles[0].group'],
      ])
      expect(madeOf(copy(name), ids)).not.toMatchObject({ uid: 0 })
    },
  )

  it('lets an ordinary user give files to himself and his groups only', async () => {
    expect((await resolve(someone, copy('web', 'adm'))).problems).toEqual([])
    expect((await resolve(someone, copy('root', 'root'))).problems).toMatchObject([
      { code: 'etc.owner-not-permitted', hint: expect.stringContaining('root') },
      { code: 'etc.owner-not-permitted' },
    ])
  })

  it('says nothing about an owned entry whose user is gone', async () => {
    const owned = [copy('gone')]
    const view = { files: realFiles, layout: machine.layout, applier: root }
    expect(await resolveOwners(view, { wanted: [], owned })).toMatchObject({ problems: [] })
  })

  it('asks directory services on the machine itself, not below a root', async () => {
    const lookUp = async (_: string, name: string) => (name === 'ldap-user' ? 70_000 : null)
    const entry = copy('ldap-user')
    expect((await resolve({ ...root, lookUp }, entry)).problems).toHaveLength(1)
    const here = { files: realFiles, layout: layoutOf(), applier: { ...root, lookUp } }
    const { ids, problems } = await resolveOwners(here, { wanted: [entry], owned: [] })
    expect(problems).toEqual([])
    expect(madeOf(entry, ids)).toMatchObject({ uid: 70_000, gid: 0 })
  })
})

describe('thisProcess', () => {
  it('finds what getent knows, and not what it does not', async () => {
    const { lookUp } = thisProcess()
    expect(await lookUp('passwd', 'root')).toBe(0)
    expect(await lookUp('group', 'no-such-group-anywhere')).toBe(null)
  })
})
