import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Source } from '../model/source.ts'
import { evaluateJsonnetSource, type JsonnetOptions } from './jsonnet.ts'
import { importFrom } from './jsonnet-imports.ts'

let base: string
let inside: string

beforeAll(() => {
  base = mkdtempSync(join(tmpdir(), 'cairn-jsonnet-'))
  inside = join(base, 'bundle')
  mkdirSync(join(inside, 'lib'), { recursive: true })
  mkdirSync(join(base, 'bundle-other'))
  writeFileSync(join(inside, 'lib/names.libsonnet'), '{ web: (importstr "../name.txt") }')
  writeFileSync(join(inside, 'name.txt'), 'web')
  writeFileSync(join(base, 'secret'), '"secret"')
  writeFileSync(join(base, 'bundle-other/secret'), '"secret"')
  symlinkSync('../secret', join(inside, 'link'))
  symlinkSync('loop', join(inside, 'loop'))
  symlinkSync('..', join(inside, 'up'))
  symlinkSync('lib/names.libsonnet', join(inside, 'good-link'))
})
afterAll(() => rmSync(base, { recursive: true, force: true }))

const evaluate = (content: Source['content'], options: Partial<JsonnetOptions> = {}) =>
  evaluateJsonnetSource(
    { name: join(inside, 'main.jsonnet'), content },
    { directories: [inside], extVars: {}, timeoutMs: 30_000, ...options },
  )

describe('a Jsonnet source, in a process of its own', () => {
  it('becomes a JSON source of the same name', async () => {
    const traces: string[] = []
    const text = `{ kind: 'Label', metadata: { name: (import 'lib/names.libsonnet').web + std.extVar('n') }, n:: std.trace('x', 1), m: self.n }`
    const source = await evaluate(Buffer.from(text), { extVars: { n: '1' }, onTrace: line => traces.push(line) })
    expect(source).toEqual({
      name: join(inside, 'main.jsonnet'),
      content: JSON.stringify({ kind: 'Label', m: 1, metadata: { name: 'web1' } }, null, 2),
      encoding: 'json',
      evaluated: true,
    })
    expect(traces).toEqual([`TRACE: ${join(inside, 'main.jsonnet')}:1:96 x`])
  })

  it('is killed at the time limit', async () => {
    expect(await evaluate('local l(n) = l(n + 1) tailstrict; l(0)', { timeoutMs: 300 })).toMatchObject({
      code: 'jsonnet.too-long',
      source: { file: join(inside, 'main.jsonnet') },
    })
  })

  it('is ended by the memory limit', async () => {
    const text = 'std.foldl(function(a, r) a + std.length(r), [std.range(i, i + 1e5) for i in std.range(1, 400)], 0)'
    expect(await evaluate(text, { memoryMiB: 32 })).toMatchObject({ code: 'jsonnet.too-large' })
  })

  it('is refused what an import leads out to', async () => {
    expect(await evaluate(`[1, import '../secret']`)).toMatchObject({
      code: 'jsonnet.import',
      source: { file: join(inside, 'main.jsonnet'), line: 1, column: 5 },
    })
  })

  it('has no imports where no directory is given', async () => {
    const directories = [join(base, 'not-there')]
    expect(await evaluate(`import 'name.txt'`, { directories })).toMatchObject({ code: 'jsonnet.import' })
  })
})

describe('imports', () => {
  const resolve = (path: string, from = join(inside, 'main.jsonnet')) => importFrom([inside]).resolve(from, path)

  it('are found beside the importing file, and in the directories', () => {
    expect(resolve('name.txt')).toMatchObject({ file: join(inside, 'name.txt'), content: Buffer.from('web') })
    expect(resolve('../name.txt', join(inside, 'lib/x'))).toMatchObject({ content: Buffer.from('web') })
    expect(resolve('lib/names.libsonnet', 'stdin')).toMatchObject({ file: join(inside, 'lib/names.libsonnet') })
    expect(resolve(join(inside, 'name.txt'))).toMatchObject({ content: Buffer.from('web') })
    expect(resolve('good-link')).toMatchObject({ file: join(inside, 'good-link') })
  })

  it.each(['../secret', 'link', 'up/secret', '../bundle-other/secret', '/etc/passwd', 'loop', '.'])(
    'refuse %s',
    path => {
      expect(resolve(path)).toMatchObject({ code: 'jsonnet.import', reason: expect.stringContaining('outside') })
    },
  )

  it('refuse what is not a file, not there, or too large', () => {
    writeFileSync(join(inside, 'large'), Buffer.alloc(2 * 2 ** 20 + 1))
    expect(resolve('lib')).toMatchObject({ code: 'jsonnet.import', reason: expect.stringContaining('not a file') })
    expect(resolve('missing')).toMatchObject({ code: 'jsonnet.import', reason: expect.stringContaining('not there') })
    expect(resolve('large')).toMatchObject({ code: 'jsonnet.import', reason: expect.stringContaining('larger') })
  })
})
