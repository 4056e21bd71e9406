import { expect, it } from 'vitest'
import { contentLayoutOf } from '../layout.ts'
import type { ProcessName } from '../messages.ts'
import { type CommandView, codePlaces, planCommand } from './plan-command.ts'

const layout = contentLayoutOf({ base: '/cairn', run: '/run/cairn' })

const planned = (name: ProcessName, view: Partial<CommandView> = {}) =>
  planCommand({
    name,
    layout,
    self: ['/usr/bin/node', '--flag', '/opt/cairn.js'],
    code: ['/opt'],
    layers: { netns: ['unshare', '--net'], setpriv: ['setpriv', '--no-new-privs'], downloader: { uid: 7, gid: 8 } },
    env: {},
    ...view,
  })
const words = (name: ProcessName, view?: Partial<CommandView>) => {
  const { program, args } = planned(name, view)
  return [program, ...args]
}

it('puts the verifier behind all walls, with only its own directories to write', () => {
  expect(words('verifier').join('\n')).toMatchInlineSnapshot(`
    "unshare
    --net
    setpriv
    --no-new-privs
    /usr/bin/node
    --disable-warning=ExperimentalWarning
    --max-semi-space-size=4
    --permission
    --allow-fs-read=/opt
    --allow-fs-read=/proc/uptime
    --allow-fs-read=/proc/stat
    --allow-fs-read=/proc/sys/kernel/random/boot_id
    --allow-fs-read=/cairn/content/verifier
    --allow-fs-read=/cairn/content/verified
    --allow-fs-read=/cairn/content/quarantine
    --allow-fs-read=/cairn/content/certs
    --allow-fs-read=/cairn/content/pending
    --allow-fs-read=/cairn/content/trust
    --allow-fs-write=/cairn/content/verifier
    --allow-fs-write=/cairn/content/verified
    --allow-fs-write=/cairn/content/quarantine
    --allow-fs-write=/cairn/content/certs
    --flag
    /opt/cairn.js
    --content-process
    verifier"
  `)
})

it('lets the manager write its own and read what is verified, and gives it no network', () => {
  const manager = words('manager')
  expect(manager.filter(word => word.includes('fs-write'))).toEqual([
    '--allow-fs-write=/cairn/content/manager',
    '--allow-fs-write=/cairn/volumes',
  ])
  expect(manager).toContain('--allow-fs-read=/cairn/content/verified')
  expect(manager).not.toContain('--allow-net')
})

it('gives only the downloader a network, and a user of its own where there is one', () => {
  expect(words('downloader')).toEqual([
    'setpriv',
    '--no-new-privs',
    '--reuid=7',
    '--regid=8',
    '--clear-groups',
    '/usr/bin/node',
    '--disable-warning=ExperimentalWarning',
    '--max-semi-space-size=4',
    '--permission',
    '--allow-fs-read=/',
    '--allow-fs-write=/cairn/content/pending',
    '--allow-net',
    '--flag',
    '/opt/cairn.js',
    '--content-process',
    'downloader',
  ])
})

it('starts Node itself where the system allows no other wall', () => {
  const layers = { netns: null, setpriv: null, downloader: null }
  expect(planned('verifier', { layers })).toMatchObject({ program: '/usr/bin/node' })
})

it('hands nothing of the environment down but what is needed, and proxies only to the downloader', () => {
  const env = { LANG: 'C', HTTPS_PROXY: 'http://u:p@proxy', no_proxy: 'x', AWS_SECRET: 's', NODE_OPTIONS: '--inspect' }
  expect(Object.keys(planned('verifier', { env }).env)).toEqual(['PATH', 'LANG'])
  expect(Object.keys(planned('downloader', { env }).env)).toEqual(['PATH', 'LANG', 'HTTPS_PROXY', 'no_proxy'])
})

it('knows its code as sources and as a bundle', () => {
  expect(codePlaces('/p/src/content/supervisor/supervisor.ts')).toEqual([
    '/p/src',
    '/p/node_modules',
    '/p/package.json',
  ])
  expect(codePlaces('/lib/cairn/dist/chunk-1.js')).toEqual(['/lib/cairn/dist', '/lib/cairn/package.json'])
})
