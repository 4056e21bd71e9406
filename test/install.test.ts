// What npm would publish, installed as npm would install it: it runs by itself, and has nothing in it that only tests need.
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { removeTree } from '../src/lib/durable.ts'
import { realFiles } from '../src/lib/files.ts'
import { run, runOrThrow } from './machine/process.ts'

const project = join(import.meta.dirname, '..')
const notCopied = ['node_modules', '.git', 'dist', '.cairn', 'coverage']

describe('the package that npm makes', () => {
  let base: string
  let installed: string
  let files: readonly string[]

  beforeAll(async () => {
    base = mkdtempSync(join(tmpdir(), 'cairn-install-'))
    const copy = join(base, 'copy')
    cpSync(project, copy, { recursive: true, filter: path => !notCopied.includes(relative(project, path)) })
    symlinkSync(join(project, 'node_modules'), join(copy, 'node_modules'))
    const env = {
      ...process.env,
      HOME: base,
      npm_config_cache: join(base, 'cache'),
      npm_config_update_notifier: 'false',
    }
    await runOrThrow(['npm', 'pack', '--offline', '--pack-destination', base], { cwd: copy, env })

    const modules = join(base, 'app/node_modules')
    installed = join(modules, 'cairn')
    mkdirSync(installed, { recursive: true })
    const archive = readdirSync(base).find(name => name.endsWith('.tgz'))!
    await runOrThrow(['tar', '-xzf', join(base, archive), '-C', installed, '--strip-components=1'])
    const node = `node-linux-${process.arch}`
    symlinkSync(join(project, 'node_modules', node), join(modules, node))
    mkdirSync(join(modules, '.bin'))
    symlinkSync('../cairn/bin/cairn', join(modules, '.bin/cairn'))
    files = readdirSync(installed, { recursive: true, withFileTypes: true })
      .filter(entry => entry.isFile())
      .map(entry => relative(installed, join(entry.parentPath, entry.name)))
  })
  afterAll(() => removeTree(realFiles, base))

  /** Without the Node of this test in PATH. */
  const cairn = (...args: string[]) =>
    run([join(base, 'app/node_modules/.bin/cairn'), ...args], { cwd: base, env: { PATH: '/usr/bin:/bin', HOME: base } })

  it('says its version', async () => {
    const { version } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8')) as { version: string }
    expect(await cairn('--version')).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' })
  })

  it('plans and applies with nothing but itself and its Node', async () => {
    const config = join(installed, 'examples/homelab/overlays/cleo.json')
    const plan = await cairn('node', 'plan', '-f', config, '--root', join(base, 'try'))
    expect(plan).toMatchObject({ code: 0, stderr: '' })
    const expected = readFileSync(join(project, 'examples/homelab/expected-plan.txt'), 'utf8')
    expect(expected).toContain(plan.stdout)
    expect(await cairn('node', 'apply', '-f', config, '--root', join(base, 'try'), '--json')).toMatchObject({ code: 0 })
    expect(existsSync(join(base, 'try/cairn/current'))).toBe(true)
  })

  it('fetches with nothing but itself: the content processes are of the same bundle', async () => {
    writeFileSync(join(base, 'tool'), 'tool\n')
    const source = { type: 'url', uri: `file://${join(base, 'tool')}` }
    const config = join(base, 'overlay.json')
    writeFileSync(config, JSON.stringify({ version: 'v1', packageByNames: { tool: { version: '1', source } } }))
    const { code, stdout } = await cairn('node', 'prepare', '-f', config, '--root', join(base, 'fetched'), '--json')
    const said = JSON.parse(stdout) as { packages: { name: string; state: string }[] }
    expect(code, stdout).toBe(0)
    const state = said.packages.find(({ name }) => name === 'tool')?.state ?? ''
    expect(readFileSync(join(base, 'fetched/cairn/states', state, 'bin/tool'), 'utf8')).toBe('tool\n')
  })

  it('brings the bundle, the pages and the examples, and neither sources nor tests', () => {
    for (const path of [
      'package.json',
      'LICENSE',
      'README.md',
      'CHANGELOG.md',
      'bin/cairn',
      'dist/cairn.js',
      'docs/overlay.md',
    ])
      expect(files).toContain(path)
    const places = new Set(files.filter(path => path.includes('/')).map(path => path.split('/')[0]))
    expect([...places].sort()).toEqual(['bin', 'dist', 'docs', 'examples', 'packaging'])
    expect(files.filter(path => /\.(ts|test|fake|suite)\b/.test(path))).toEqual([])
  })

  it.each([
    ['src/overlay/systemd/memory.fake.ts', 'memorySystemd'],
    ['src/overlay/node.fake.ts', 'fakeNode'],
    ['src/lib/files.fake.ts', 'faultyFiles'],
    ['src/content/lying-server.fake.ts', 'lyingServer'],
    ['src/overlay/systemd/systemd.suite.ts', 'systemdSuite'],
  ])('has nothing of %s in its bundle', (source, name) => {
    expect(readFileSync(join(project, source), 'utf8')).toMatch(new RegExp(`export (async )?function ${name}\\b`))
    const bundle = files
      .filter(path => path.startsWith('dist/'))
      .map(path => readFileSync(join(installed, path), 'utf8'))
      .join('\n')
    expect(bundle).toContain('offlineSystemd')
    expect(bundle).not.toContain(name)
    expect(bundle).not.toContain('vitest')
  })
})
