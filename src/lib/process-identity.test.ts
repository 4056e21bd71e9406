import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, it } from 'vitest'
import { realClock } from './clock.ts'
import { isAlive, startTimeOf, thisProcess, withAncestors } from './process-identity.ts'

it('knows itself as alive', () => {
  expect(isAlive(thisProcess(realClock), realClock)).toBe(true)
})

it('takes a process of another boot or another start time for dead, even when its pid is in use', () => {
  const me = thisProcess(realClock)
  expect(isAlive({ ...me, bootId: 'another' }, realClock)).toBe(false)
  expect(isAlive({ ...me, startTime: '1' }, realClock)).toBe(false)
})

it('takes a killed process for dead', async () => {
  const child = spawn('/bin/sleep', ['60'])
  const pid = child.pid!
  const identity = { pid, startTime: startTimeOf(pid)!, bootId: realClock.bootId() }
  expect(isAlive(identity, realClock)).toBe(true)
  child.kill('SIGKILL')
  await once(child, 'exit')
  expect(isAlive(identity, realClock)).toBe(false)
})

it('takes a process that ended but was not waited for as dead', async () => {
  // exec turns the shell into a sleep that never waits for the child it got.
  const parent = spawn('/bin/sh', ['-c', 'true & echo $!; exec sleep 60'])
  try {
    const [line] = (await once(parent.stdout, 'data')) as [Buffer]
    const pid = Number(line.toString())
    await expect.poll(() => startTimeOf(pid)).toBeNull()
  } finally {
    parent.kill('SIGKILL')
  }
})

it('reads the start time behind a program name with spaces and parentheses', async () => {
  const child = spawn(process.execPath, [
    '-e',
    'process.title = "a) R 1 (b"; console.log(); setInterval(() => {}, 1e6)',
  ])
  try {
    await once(child.stdout, 'data')
    expect(startTimeOf(child.pid!)).toMatch(/^\d+$/)
    expect(withAncestors(child.pid!)).toContain(process.pid)
  } finally {
    child.kill('SIGKILL')
  }
})
