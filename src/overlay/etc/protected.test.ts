import { expect, it } from 'vitest'
import { t } from './etc.fake.ts'
import { checkProtected, isProtected } from './protected.ts'

it.each([
  'passwd',
  'group',
  'shadow',
  'gshadow',
  'subuid',
  'subgid',
  'sudoers',
  'sudoers.d/admins',
  'ssh/sshd_config',
  'fstab',
  'crypttab',
  'machine-id',
  'hostname',
  'hosts',
  'resolv.conf',
  'pam.d/login',
  'ld.so.conf',
  'ld.so.preload',
  'ld.so.conf.d/x.conf',
  'nsswitch.conf',
  'securetty',
  'shells',
])('%s is protected', target => expect(isProtected(t(target))).toBe(true))

it.each(['pam.d', 'sudoers.d', 'ssh'])('%s is protected as a whole, for what lies in it', target =>
  expect(isProtected(t(target))).toBe(true),
)

it.each(['passwd.d', 'ssh/ssh_config', 'hosts.allow', 'foo/passwd', 'ld.conf', 'motd'])('%s is not', target =>
  expect(isProtected(t(target))).toBe(false),
)

it('asks for the field by its name, unless it is set', () => {
  const entry = { target: t('fstab'), from: 'disks', declaredAt: 'packageByNames.disks.etcFiles[2]' }
  expect(checkProtected([entry, { ...entry, allowProtected: true }])).toMatchObject([
    {
      code: 'etc.protected',
      path: 'packageByNames.disks.etcFiles[2]',
      hint: expect.stringContaining('allowProtected: true on packageByNames.disks.etcFiles[2]'),
    },
  ])
})
