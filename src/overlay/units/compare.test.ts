import { describe, expect, it } from 'vitest'
import { compareUnits } from './compare.ts'
import { policyKeys } from './keys.ts'
import { effectiveOf } from './units.fake.ts'

const base = '[Unit]\nDescription=a\nAfter=x.target\n[Service]\nExecStart=/a\nEnvironment=A=1\nEnvironment=B=2\n'

function compare(old: string | Record<string, string>, wanted: string | Record<string, string>, name = 'w.service') {
  const filesOf = (given: string | Record<string, string>) => (typeof given === 'string' ? { [name]: given } : given)
  const { result, keys } = compareUnits(effectiveOf(filesOf(old), name), effectiveOf(filesOf(wanted), name))
  return [result, ...keys]
}

const withKey = (section: string, line: string) => `${base}[${section}]\n${line}\n`

describe('compareUnits', () => {
  it.each([
    ...[
      'Description',
      'Documentation',
      'OnFailure',
      'OnSuccess',
      'OnFailureJobMode',
      'IgnoreOnIsolate',
      'StopWhenUnneeded',
    ],
    ...['RefuseManualStart', 'RefuseManualStop', 'AllowIsolate', 'CollectMode', 'SourcePath', ...policyKeys],
  ])('takes units for equal that differ in %s alone', key => {
    expect(compare(base, withKey('Unit', `${key}=1`))).toEqual(['equal'])
    expect(compare(withKey('Unit', `${key}=1`), withKey('Unit', `${key}=2`))).toEqual(['equal'])
    expect(compare(withKey('Unit', `${key}=1`), base)).toEqual(['equal'])
  })

  it.each(policyKeys)('takes units for equal that differ in %s of [Service] alone', key => {
    expect(compare(base, withKey('Service', `${key}=1`))).toEqual(['equal'])
  })

  it.each<[string, string, string, string[]]>([
    ['[Install] added', base, withKey('Install', 'WantedBy=a.target'), ['equal']],
    ['[Install] removed', withKey('Install', 'WantedBy=a.target'), base, ['equal']],
    ['[Install] changed', withKey('Install', 'WantedBy=a.target'), withKey('Install', 'WantedBy=b.target'), ['equal']],
    ['order of keys and sections', '[A]\nx=1\ny=2\n[B]\nz=3', '[B]\nz=3\n[A]\ny=2\nx=1', ['equal']],
    ['space, comments, continuations', '[A]\nx=1 2', '#c\n[A]\n x = 1\\\n2\n', ['equal']],
    ['what was cleared', '[A]\nx=1', '[A]\nx=0\nx=\nx=1', ['equal']],
    ['order of values', '[A]\nx=1\nx=2', '[A]\nx=2\nx=1', ['restart', 'x']],
    ['space inside a value', '[A]\nx=a b', '[A]\nx=a  b', ['restart', 'x']],
    ['a key cleared for good', '[A]\nx=1', '[A]\nx=', ['restart', 'x']],
    ['the command', base, base.replace('/a', '/b'), ['restart', 'ExecStart']],
    ['several keys', base, base.replace('/a', '/b').replace('B=2', 'B=3'), ['restart', 'Environment', 'ExecStart']],
    ['an unknown X- key', base, withKey('Unit', 'X-Mine=1'), ['restart', 'X-Mine']],
    ['a key that is ignored in [Unit] only', base, withKey('Service', 'Description=1'), ['restart', 'Description']],
  ])('compares %s', (_, old, wanted, result) => {
    expect(compare(old, wanted)).toEqual(result)
  })

  const reload = (hash: string) => withKey('Unit', `X-Reload-Triggers=caddy/routes:${hash.repeat(16)}`)
  const restart = (hash: string) => withKey('Unit', `X-Restart-Triggers=caddy/routes:${hash.repeat(16)}`)
  const execReload = (command: string) => withKey('Service', `ExecReload=${command}`)

  it.each<[string, string, string, string[]]>([
    ['a reload trigger added', base, reload('a'), ['reload', 'etc/caddy/routes']],
    ['a reload trigger changed', reload('a'), reload('b'), ['reload', 'etc/caddy/routes']],
    ['a reload trigger changed with more', reload('a'), reload('b').replace('/a', '/b'), ['restart', 'ExecStart']],
    ['a reload trigger removed', reload('a'), base, ['equal']],
    ['a restart trigger added', base, restart('a'), ['restart', 'etc/caddy/routes']],
    ['a restart trigger changed', restart('a'), restart('b'), ['restart', 'etc/caddy/routes']],
    ['a restart trigger removed', restart('a'), base, ['restart', 'etc/caddy/routes']],
    ['a trigger of another making', base, withKey('Unit', 'X-Reload-Triggers=/nix/x'), ['reload', 'X-Reload-Triggers']],
    ['ExecReload added', base, execReload('/r'), ['reload', 'ExecReload']],
    ['ExecReload changed', execReload('/r'), execReload('/s'), ['reload', 'ExecReload']],
    ['ExecReload removed', execReload('/r'), base, ['equal']],
    ['ExecReload cleared', execReload('/r'), execReload(''), ['equal']],
  ])('weighs %s', (_, old, wanted, result) => {
    expect(compare(old, wanted)).toEqual(result)
  })

  it('names only those targets whose hash changed', () => {
    const two = (b: string) => `[Unit]\nX-Reload-Triggers=a:${'1'.repeat(16)}\nX-Reload-Triggers=b:${b.repeat(16)}\n`
    expect(compare(two('1'), two('2'))).toEqual(['reload', 'etc/b'])
  })

  it('reloads a mount for its options and restarts it for anything else', () => {
    const mount = '[Mount]\nWhat=/dev/sda1\nOptions=ro\n'
    expect(compare(mount, mount.replace('ro', 'rw'), 'srv.mount')).toEqual(['reload', 'Options'])
    expect(compare(mount, mount.replace('sda1', 'sdb1'), 'srv.mount')).toEqual(['restart', 'What'])
  })

  it('sees drop-ins added, changed and hidden', () => {
    const limits = '[Service]\nLimitNOFILE=1\n'
    const withDropIn = { 'w.service': base, 'w.service.d/1.conf': limits }
    expect(compare({ 'w.service': base }, withDropIn)).toEqual(['restart', 'LimitNOFILE'])
    expect(compare(withDropIn, { ...withDropIn, 'w.service.d/1.conf': limits.replace('1', '2') })).toEqual([
      'restart',
      'LimitNOFILE',
    ])
    expect(compare(withDropIn, { ...withDropIn, 'w.service.d/1.conf': '-> /dev/null' })).toEqual([
      'restart',
      'LimitNOFILE',
    ])
    expect(compare(withDropIn, { 'w.service': base, 'w.service.d/2.conf': limits })).toEqual(['equal'])
  })

  it.each([
    ['instance', 'w@a.service', 'w@.service', 'w@a.service.d'],
    ['template', 'w@a.service', 'w@.service', 'w@.service.d'],
    ['prefix', 'w-a.service', 'w-a.service', 'w-.service.d'],
    ['type', 'w.service', 'w.service', 'service.d'],
  ])('sees drop-ins by %s', (_, name, file, directory) => {
    expect(compare({ [file]: base }, { [file]: base, [`${directory}/1.conf`]: '[Service]\nUser=a\n' }, name)).toEqual([
      'restart',
      'User',
    ])
  })

  it('compares drop-ins alone when the base is elsewhere, clearing included', () => {
    const dropIn = (text: string) => ({ 'ssh.service.d/1.conf': text })
    const cleared = '[Service]\nExecStart=\nExecStart=/a\n'
    expect(compare(dropIn(cleared), dropIn(cleared), 'ssh.service')).toEqual(['equal'])
    expect(compare(dropIn(cleared), dropIn('[Service]\nExecStart=/a\n'), 'ssh.service')).toEqual([
      'restart',
      'ExecStart',
    ])
  })
})
