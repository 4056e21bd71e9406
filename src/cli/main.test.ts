// The program as people start it.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const project = fileURLToPath(new URL('../..', import.meta.url))
const { version } = JSON.parse(readFileSync(`${project}/package.json`, 'utf8'))

const cairn = (...args: string[]) => {
  const { status, stdout, stderr } = spawnSync(`${project}/bin/cairn`, args, { encoding: 'utf8' })
  return { status, stdout, stderr }
}

/** Every module that is resolved on the way to the answer. */
function importsOf(...args: string[]): string[] {
  const hooks = `import { registerHooks } from 'node:module'
    registerHooks({ resolve(name, context, next) {
      const found = next(name, context); process.stderr.write(found.url + '\\n'); return found } })`
  const preload = `data:text/javascript,${encodeURIComponent(hooks)}`
  const run = spawnSync(process.execPath, ['--import', preload, `${project}/src/cli/main.ts`, ...args], {
    encoding: 'utf8',
  })
  expect(run.status).toBe(0)
  return run.stderr.split('\n').filter(url => url.startsWith('file:'))
}

describe('the version', () => {
  it.each(['--version', '-V'])('%s is that of the package', option => {
    expect(cairn(option)).toEqual({ status: 0, stdout: `${version}\n`, stderr: '' })
  })

  it('is JSON on demand', () => {
    expect(JSON.parse(cairn('--version', '--json').stdout)).toEqual({ version })
  })

  it('is answered before anything is imported', () => {
    expect(importsOf('--version').map(url => url.replace(/^.*\/src\//, ''))).toEqual(['cli/main.ts'])
  })
})

describe('help and completion', () => {
  it.each([[['--help']], [['node', 'apply', '--help']], [['completion', 'bash']]])('%j import nothing heavy', args => {
    const heavy = importsOf(...args).filter(url =>
      /\/src\/(overlay|content|volumes|server)\/|\/node_modules\/(?!commander\/)/.test(url),
    )
    expect(heavy).toEqual([])
  })

  it('end well when nobody reads them to the end', () => {
    const script = `set -o pipefail; for i in 1 2 3 4 5; do "${project}/bin/cairn" completion fish | head -c 1 || exit; done`
    const { status, stdout, stderr } = spawnSync('bash', ['-c', script], { encoding: 'utf8' })
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '#####', stderr: '' })
  })
})

it('says so, without a stack, when its output cannot be written', () => {
  const { status, stderr } = spawnSync('bash', ['-c', `"${project}/bin/cairn" --help > /dev/full`], {
    encoding: 'utf8',
  })
  expect(status).toBe(1)
  expect(stderr).toMatch(/^The output could not be written: ENOSPC.*\n$/)
})

it('prints the JSON Schema of a kind', () => {
  const schema = JSON.parse(cairn('schema', 'OverlayConfig').stdout)
  expect(Object.keys(schema.properties)).toContain('packageByNames')
})

it('exits 64 for what it does not know', () => {
  expect(cairn('frobnicate')).toMatchObject({ status: 64, stdout: '' })
})
