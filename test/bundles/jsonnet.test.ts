// Our Jsonnet and Debian's: the same programs, the same values, the same refusals.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { evaluateJsonnetSource } from '../../src/bundles/read/jsonnet.ts'
import { evaluateJsonnet } from '../../src/lib/jsonnet/evaluate.ts'
import { findProgram, run } from '../../src/lib/run.ts'
import { describeWith } from '../require.ts'
import { differences, failures, programs } from './jsonnet-corpus.ts'

describeWith(['jsonnet'], 'Jsonnet as the reference implementation has it', () => {
  const reference = async (...args: string[]): Promise<{ value: unknown } | null> => {
    const { code, stdout } = await run(findProgram('jsonnet')!, ['--ext-str', 'who=you', ...args])
    return code === 0 ? { value: JSON.parse(stdout) } : null
  }
  const ours = (text: string): { value: unknown } | null => {
    const importer = { resolve: () => ({ code: 'jsonnet.import', path: '', reason: 'none' }) as const }
    const result = evaluateJsonnet({ file: 'main.jsonnet', text, importer, extVars: { who: 'you' } })
    // As it is sent: JSON.
    return 'value' in result ? { value: JSON.parse(JSON.stringify(result.value)) } : null
  }
  /** JSON of ours has no negative zero. */
  const positive = (result: { value: unknown } | null) => result && JSON.parse(JSON.stringify(result))

  it.each(programs)('gives the same value: %s', async text => {
    const wanted = await reference('-e', text)
    expect(wanted).not.toBeNull()
    expect(ours(text)).toEqual(positive(wanted))
  })

  it.each(failures)('refuses too: %s', async text => {
    expect(await reference('-e', text)).toBeNull()
    expect(ours(text)).toBeNull()
  })

  it.each(differences)('differs: $text, $why', async ({ text, value }) => {
    expect(ours(text)).toEqual(value === undefined ? null : { value })
    expect(await reference('-e', text)).not.toEqual(value === undefined ? null : { value })
  })

  let directory: string
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'cairn-jsonnet-'))
  })
  afterAll(() => rmSync(directory, { recursive: true, force: true }))

  it('imports files, texts and libraries as it does', async () => {
    const file = join(directory, 'main.jsonnet')
    const text = `local lib = import 'lib/a.libsonnet'; { a: lib, b: importstr 'note.txt', c: lib.self_file, d: std.thisFile }`
    writeFileSync(file, text)
    writeFileSync(join(directory, 'note.txt'), 'a note\n')
    await run('/bin/mkdir', ['-p', join(directory, 'lib')])
    writeFileSync(join(directory, 'lib/a.libsonnet'), `{ self_file: std.thisFile, up: importstr '../note.txt' }`)
    const source = await evaluateJsonnetSource(
      { name: file, content: text },
      { directories: [directory], extVars: {}, timeoutMs: 30_000 },
    )
    expect(source).toMatchObject({ encoding: 'json' })
    const value: unknown = JSON.parse('content' in source ? String(source.content) : 'null')
    expect({ value }).toEqual(await reference(file))
  })
})
