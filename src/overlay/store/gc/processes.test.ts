import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, copyFileSync, openSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findProgram } from '../../../lib/run.ts'
import type { StateName } from '../../names.ts'
import { makeStore, type TestStore } from '../store.fake.ts'
import { collectGarbage } from './collect.ts'
import { readProcesses } from './processes.ts'
import { findStatesAmong, processRoots } from './roots.ts'

let store: TestStore
let state: StateName
const children: ChildProcess[] = []

beforeEach(() => {
  store = makeStore()
  state = store.addState('daemon', { 'bin/run': '#!/bin/sh\nsleep 60\n', data: 'x'.repeat(5000) }).state
})
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  store.remove()
})

async function start(program: string, args: string[], options: object = {}): Promise<ChildProcess> {
  const child = spawn(program, args, options)
  children.push(child)
  await once(child, 'spawn')
  return child
}

const sleep = findProgram('sleep')!
const filesNaming = (child: ChildProcess) =>
  processRoots(readProcesses, findStatesAmong([state])).flatMap(({ cause }) =>
    cause.is === 'process' && cause.pid === child.pid ? [cause.file.replace(`/proc/${child.pid}/`, '')] : [],
  )

describe('a running process keeps a state alive', () => {
  it.each<[string, () => Promise<ChildProcess>, string[]]>([
    ['by its working directory', () => start(sleep, ['60'], { cwd: store.pathIn(state, 'bin') }), ['cwd']],
    ['by an argument', () => start(findProgram('sh')!, ['-c', 'read x', store.pathIn(state, '')]), ['cmdline']],
    ['by its environment', () => start(sleep, ['60'], { env: { HOME: store.pathIn(state, '') } }), ['environ']],
    [
      'by a file it holds open',
      async () => {
        const fd = openSync(store.pathIn(state, 'data'), 'r')
        try {
          return await start(sleep, ['60'], { stdio: ['ignore', 'ignore', 'ignore', fd] })
        } finally {
          closeSync(fd)
        }
      },
      ['fd/3'],
    ],
  ])('%s', async (_, run, files) => {
    const child = await run()
    await expect.poll(() => filesNaming(child)).toEqual(files)
    expect((await collectGarbage(store)).states).toEqual([])
    child.kill('SIGKILL')
    await once(child, 'exit')
    expect((await collectGarbage(store)).states).toMatchObject([{ state }])
  })

  it('by its program and what is mapped of it', async () => {
    const program = store.addState('program', { 'bin/sleep': '#!' })
    const copy = store.pathIn(program.state, 'bin/sleep')
    store.files.chmod(copy, 0o755)
    copyFileSync(sleep, copy)
    state = program.state
    const child = await start(copy, ['60'], { argv0: 'sleep' })
    expect(new Set(filesNaming(child))).toEqual(new Set(['exe', 'maps']))
  })
})

it('reads on while processes come and go', async () => {
  const storm = await start(findProgram('sh')!, ['-c', 'while :; do /bin/true & /bin/true & wait; done'], {
    detached: true,
  })
  try {
    const child = await start(sleep, ['60'], { cwd: store.pathIn(state, '') })
    for (let round = 0; round < 20; round++) expect(filesNaming(child)).toEqual(['cwd'])
  } finally {
    process.kill(-storm.pid!, 'SIGKILL')
  }
})
