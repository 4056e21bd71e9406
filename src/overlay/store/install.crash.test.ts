import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'
import { fakeDoor } from '../../content/door.fake.ts'
import { gzip, tarOf } from '../../lib/archive/archives.fake.ts'
import { CairnError } from '../../lib/errors.ts'
import { Crash, type FaultPlan, faultyFiles } from '../../lib/files.fake.ts'
import type { Files } from '../../lib/files.ts'
import { silentProgress } from '../../lib/progress.ts'
import type { PackageSource } from '../../resources/overlay-config.ts'
import { statePath } from '../layout.ts'
import { isStateName } from '../names.ts'
import { installPackage, type Store } from './install.ts'
import type { Package } from './package.ts'
import { readRecord, recordedStates } from './record.ts'
import { sourcePackage } from './source.ts'
import { makeStore, type TestStore } from './store.fake.ts'
import { hashTree } from './tree.ts'

const stores: TestStore[] = []
afterEach(() => {
  for (const store of stores.splice(0)) store.remove()
})

const sources: readonly (readonly [string, PackageSource])[] = [
  ['an archive', { type: 'url+tar', uri: 'archive' }],
  ['a directory', { type: 'file', uri: 'from' }],
  ['a text', { type: 'inline', content: 'text' }],
]

/** A store with the sources beside it, and the package. */
function prepared(source: PackageSource): { test: TestStore; pkg: Package } {
  const test = makeStore()
  stores.push(test)
  mkdirSync(join(test.root, 'from/bin'), { recursive: true })
  writeFileSync(join(test.root, 'from/bin/tool'), 'run', { mode: 0o755 })
  symlinkSync('bin/tool', join(test.root, 'from/link'))
  const archive = join(test.root, 'archive')
  writeFileSync(
    archive,
    gzip(
      tarOf([
        { name: 'bin/tool', content: 'run' },
        { name: 'l', kind: 'symlink', link: 'bin' },
      ]),
    ),
  )
  const uri = source.uri === 'archive' ? pathToFileURL(archive).href : source.uri
  const { package: pkg } = sourcePackage({
    files: test.files,
    name: 'tool',
    config: { version: '1', source: uri === undefined ? source : { ...source, uri } },
    declaredAt: 'packageByNames.tool',
    baseDirectory: test.root,
    requireChecksums: false,
  })
  return { test, pkg: pkg! }
}

const storeOf = ({ layout }: TestStore, files: Files): Store => ({
  files,
  layout,
  content: fakeDoor(),
  progress: silentProgress,
  signal: new AbortController().signal,
  protect: async () => {},
  warn: () => {},
})

/** Only what is whole has a record. */
function expectOnlyWholeStates({ files, layout }: TestStore, when: string) {
  for (const state of recordedStates(files, layout)) {
    const record = readRecord(files, layout, state, () => {})
    expect(record, when).not.toBeNull()
    expect(hashTree(files, statePath(layout, state)).contentSha256, when).toBe(record!.contentSha256)
  }
}

async function attempt(source: PackageSource, plan: FaultPlan) {
  const { test, pkg } = prepared(source)
  const files = faultyFiles(test.files, plan)
  const error: unknown = await installPackage(storeOf(test, files), pkg).then(
    () => null,
    reason => reason,
  )
  return {
    test,
    pkg,
    error,
    when: `${JSON.stringify(plan)}: ${files.log.at('crashAt' in plan ? plan.crashAt - 1 : plan.failAt - 1)}`,
  }
}

describe.each(sources)('while %s is installed', (_, source) => {
  const countCalls = async () => {
    const { test, pkg } = prepared(source)
    const files = faultyFiles(test.files)
    await installPackage(storeOf(test, files), pkg)
    return files.calls
  }

  it('a crash at any call leaves whole states only, and the next install succeeds', async () => {
    const calls = await countCalls()
    expect(calls).toBeGreaterThan(10)
    for (let crashAt = 1; crashAt <= calls; crashAt++) {
      const { test, pkg, error, when } = await attempt(source, { crashAt })
      expect(error, when).toBeInstanceOf(Crash)
      expectOnlyWholeStates(test, when)
      const installed = await installPackage(storeOf(test, test.files), pkg)
      expectOnlyWholeStates(test, when)
      expect(recordedStates(test.files, test.layout), when).toEqual([installed.state])
    }
  })

  it.each([
    ['ENOSPC', 'disk.full'],
    ['EIO', 'store.write-failed'],
  ] as const)('%s at any call is told, leaves nothing temporary, and the next install succeeds', async (code, told) => {
    const calls = await countCalls()
    for (let failAt = 1; failAt <= calls; failAt++) {
      const { test, pkg, error, when } = await attempt(source, { failAt, code })
      expect(error, when).toBeInstanceOf(CairnError)
      expect((error as CairnError).code, when).toEqual(told)
      expect(
        readdirSync(test.layout.states).filter(name => !isStateName(name)),
        when,
      ).toEqual([])
      expectOnlyWholeStates(test, when)
      expect(await installPackage(storeOf(test, test.files), pkg), when).toMatchObject({ name: 'tool' })
    }
  })
})
