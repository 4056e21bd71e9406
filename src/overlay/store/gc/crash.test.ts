import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isErrno } from '../../../lib/errors.ts'
import { Crash, faultyFiles } from '../../../lib/files.fake.ts'
import { type Files, realFiles } from '../../../lib/files.ts'
import { findProgram, run } from '../../../lib/run.ts'
import { listRecords, type StateRecord } from '../record.ts'
import { makeStore, type TestStore } from '../store.fake.ts'
import { registerTempRoots } from '../temp-roots.ts'
import { verifyStates } from '../verify.ts'
import { collectGarbage } from './collect.ts'
import type { TakeLock } from './lock.ts'
import { makeReserve } from './reserve.ts'

let store: TestStore
beforeEach(() => {
  store = makeStore()
})
afterEach(() => store.remove())

const unlocked: TakeLock = async () => ({ release: () => {} })
const collect = (files: Files = store.files, keep?: number) =>
  collectGarbage(
    { ...store, files },
    { processes: () => [], takeLock: unlocked, ...(keep === undefined ? {} : { keep }) },
  )
const recorded = () => listRecords(realFiles, store.layout, () => {})
const leftovers = () => [
  ...readdirSync(store.layout.trash),
  ...readdirSync(store.layout.states).filter(name => name.includes('-tmp-')),
]

/** Two generations that stay, two that go, what only those use, and what an earlier crash left. */
function fill(): StateRecord[] {
  const kept: StateRecord[] = []
  for (const generation of [1, 2, 3, 4]) {
    const tool = store.addState(`tool${generation}`, { 'bin/tool': '#!x', 'etc/a/b': 'deep' })
    const etc = store.addState(`etc${generation}`, undefined, [tool.state])
    store.addGeneration(generation, etc.state)
    if (generation > 2) kept.push(tool, etc)
  }
  mkdirSync(join(store.layout.trash, 'left'), { recursive: true })
  writeFileSync(join(store.layout.trash, 'left/file'), '')
  mkdirSync(join(store.layout.states, '.tool9-tmp-abc'))
  return kept
}

describe('a collection that crashes', () => {
  it('at any change leaves only whole states, keeps what is in use, and is finished by the next one', async () => {
    fill()
    const whole = faultyFiles(store.files)
    await collect(whole, 2)
    expect(whole.calls).toBeGreaterThan(50)
    for (let crashAt = 1; crashAt <= whole.calls; crashAt++) {
      store.remove()
      store = makeStore()
      const kept = fill()
      await expect(collect(faultyFiles(store.files, { crashAt }), 2)).rejects.toThrow(Crash)
      expect(verifyStates(realFiles, store.layout, [...recorded(), ...kept])).toEqual([])
      expect((await collect(store.files, 2)).failed).toEqual([])
      expect(recorded().map(({ state }) => state)).toEqual(kept.map(({ state }) => state).sort())
      expect(readdirSync(store.layout.generations).sort()).toEqual(['3', '4'])
      expect(leftovers()).toEqual([])
    }
  }, 120_000)

  it('by kill -9 is finished by the next one, which says how much it found', async () => {
    const kept = fill()
    for (let index = 0; index < 150; index++) store.addState(`dead${index}`)
    const script = `
      import { writeSync } from 'node:fs'
      import { collectGarbage } from '${new URL('./collect.ts', import.meta.url)}'
      import { realClock } from '${new URL('../../../lib/clock.ts', import.meta.url)}'
      import { realFiles } from '${new URL('../../../lib/files.ts', import.meta.url)}'
      const layout = ${JSON.stringify(store.layout)}
      const onRemoved = removed => 'state' in removed && writeSync(1, '.')
      await collectGarbage({ files: realFiles, layout, clock: realClock }, { processes: () => [], onRemoved })
      console.log('done')`
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let output = ''
    child.stdout.on('data', chunk => {
      output += chunk
      child.kill('SIGKILL')
    })
    await once(child, 'close')
    expect(output).not.toContain('done')
    expect(verifyStates(realFiles, store.layout, [...recorded(), ...kept])).toEqual([])

    const before = leftovers().length
    const report = await collectGarbage(store, { processes: () => [] })
    expect(report.garbage).toHaveLength(before)
    expect(recorded().filter(({ name }) => name.startsWith('dead'))).toEqual([])
    expect(leftovers()).toEqual([])
  })
})

describe('on a full file system', () => {
  it.for([
    { left: 'no byte', options: 'size=8m', fillers: [1_000_000, 4096] },
    { left: 'no inode', options: 'size=8m,nr_inodes=400', fillers: [0] },
  ])('with $left left, a collection frees space', async ({ options, fillers }, { skip }) => {
    const directory = mkdtempSync(join(tmpdir(), 'cairn-full-'))
    const mounted = await run(findProgram('mount')!, ['-t', 'tmpfs', '-o', options, 'cairn-test', directory])
    try {
      if (mounted.code !== 0) return skip(`a small file system cannot be mounted here: ${mounted.stderr.trim()}`)
      const full = makeStore(directory)
      const used = full.addState('used')
      full.addGeneration(1, used.state)
      const dead = ['one', 'two'].map(name => full.addState(name, { data: 'x'.repeat(1_000_000) }).state)
      ;(await registerTempRoots(dead, full, { command: 'cairn node prepare' })).release()
      makeReserve(full.files, full.layout)
      fillUp(directory, fillers)
      const report = await collectGarbage(full, { processes: () => [] })
      expect(report).toMatchObject({ failed: [], freedBytes: 2_000_000 })
      expect(report.states.map(({ state }) => state).sort()).toEqual(dead.sort())
      expect(verifyStates(realFiles, full.layout, [used])).toEqual([])
      const { bavail, bsize } = statfsSync(directory)
      expect(bavail * bsize).toBeGreaterThan(900_000)
    } finally {
      if (mounted.code === 0) await run(findProgram('umount')!, [directory])
      rmSync(directory, { recursive: true })
    }
  })

  it('that has no room for the trash either, deletes in place', async () => {
    store.addState('dead')
    const files: Files = {
      ...store.files,
      mkdir: () => {
        throw Object.assign(new Error('ENOSPC: no space'), { code: 'ENOSPC' })
      },
    }
    expect(await collect(files)).toMatchObject({ states: [{ why: 'unused' }], failed: [] })
    expect(readdirSync(store.layout.states)).toEqual([])
  })
})

/** Until not one more file or byte fits. */
function fillUp(directory: string, sizes: readonly number[]) {
  for (const size of sizes)
    try {
      for (let index = 0; ; index++) writeFileSync(join(directory, `filler-${size}-${index}`), Buffer.alloc(size))
    } catch (error) {
      if (!isErrno(error, 'ENOSPC')) throw error
    }
}
