import { expect, it } from 'vitest'
import { detach, detachedArguments } from './detach.ts'

it('starts the same command line, without --detach, in a unit of its own', () => {
  const argv = ['node', 'apply', '-f', 'overlay.json', '--detach', '--json']
  expect(detachedArguments({ argv, unit: 'u.service', cwd: '/srv', self: ['/node', '/main.ts'] })).toEqual([
    '--quiet',
    '--collect',
    '--no-ask-password',
    '--unit=u.service',
    '--working-directory=/srv',
    '--description=Cairn: apply an overlay config',
    '--',
    '/node',
    '/main.ts',
    'node',
    'apply',
    '-f',
    'overlay.json',
    '--json',
  ])
})

it('refuses standard input, which the unit would not have', async () => {
  await expect(detach(['node', 'apply', '-f', '-', '--detach'], '-')).rejects.toMatchObject({ code: 'usage.bad-value' })
})
