import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, linkSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { realClock } from './clock.ts'
import { type Files, realFiles } from './files.ts'
import { acquireLock } from './lock.ts'
import { startTimeOf } from './process-identity.ts'
import { findProgram } from './run.ts'

let directory: string
let path: string
const children: ChildProcess[] = []

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'cairn-lock-'))
  path = join(directory, 'lock')
})
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  rmSync(directory, { recursive: true })
})

const kernel = findProgram('flock')
const kinds: [string, string | null][] = [['by the file that is there', null]]
if (kernel) kinds.unshift(['by the kernel', kernel])

describe.each(kinds)('a lock kept %s', (_, flock) => {
  const options = { command: 'cairn node apply', clock: realClock, flock }

  it('is refused to a second one, with the holder named', async () => {
    const lock = await acquireLock(path, options)
    await expect(acquireLock(path, { ...options, command: 'cairn node gc' })).rejects.toMatchObject({
      code: 'lock.busy',
      message: expect.stringMatching(new RegExp(`cairn node apply \\(pid ${process.pid}, started just now\\)`)),
    })
    lock.release()
  })

  it('is free again after its release, which may be repeated without taking it from the next', async () => {
    const first = await acquireLock(path, options)
    first.release()
    const second = await acquireLock(path, options)
    first.release()
    await expect(acquireLock(path, options)).rejects.toMatchObject({ code: 'lock.busy' })
    second.release()
  })

  it('is waited for when asked', async () => {
    const first = await acquireLock(path, options)
    const second = acquireLock(path, { ...options, waitMs: 10_000 })
    setTimeout(first.release, 60)
    ;(await second).release()
  })

  it('goes with a holder that is killed', async () => {
    const holder = await startHolder(flock)
    await expect(acquireLock(path, options)).rejects.toMatchObject({ message: expect.stringContaining('the holder') })
    holder.kill('SIGKILL')
    await once(holder, 'exit')
    const lock = await acquireLock(path, options)
    lock.release()
  })

  it('is held by one of many at each moment', async () => {
    let inside = 0
    let most = 0
    await Promise.all(
      Array.from({ length: 8 }, async () => {
        const lock = await acquireLock(path, { ...options, waitMs: 20_000 })
        most = Math.max(most, ++inside)
        await realClock.sleep(3)
        inside--
        lock.release()
      }),
    )
    expect(most).toBe(1)
  })

  it('leaves no file but its own', async () => {
    ;(await acquireLock(path, options)).release()
    expect(readdirSync(directory)).toEqual(flock ? ['lock'] : [])
  })
})

describe.skipIf(!kernel)('by the kernel', () => {
  it('leaves no process behind and does not pass to children', async () => {
    const lock = await acquireLock(path, { command: 'test', clock: realClock })
    const child = spawn('/bin/sleep', ['60'])
    children.push(child)
    lock.release()
    ;(await acquireLock(path, { command: 'test', clock: realClock })).release()
    expect(startTimeOf(child.pid!)).not.toBeNull()
  })

  it('is had on a full disk, where its holder cannot say who it is', async () => {
    const full: Files = {
      ...realFiles,
      write() {
        throw Object.assign(new Error('no space'), { code: 'ENOSPC' })
      },
    }
    const lock = await acquireLock(path, { command: 'test', clock: realClock, files: full })
    await expect(acquireLock(path, { command: 'test', clock: realClock })).rejects.toMatchObject({ code: 'lock.busy' })
    lock.release()
  })
})

describe('by the file that is there', () => {
  const options = { command: 'test', clock: realClock, flock: null }
  const dead = { pid: 2 ** 22 + 1, startTime: '1', bootId: realClock.bootId(), command: 'x', since: '', id: 'dead' }

  it('is taken over from a holder of an earlier boot whose pid is in use again', async () => {
    const startTime = startTimeOf(process.pid)!
    writeFileSync(`${path}.held`, JSON.stringify({ ...dead, pid: process.pid, startTime, bootId: 'earlier' }))
    ;(await acquireLock(path, options)).release()
  })

  it('is taken over by one only', async () => {
    writeFileSync(`${path}.held`, JSON.stringify(dead))
    const takers = Array.from({ length: 6 }, () => acquireLock(path, options))
    const outcomes = await Promise.allSettled(takers)
    expect(outcomes.filter(outcome => outcome.status === 'fulfilled')).toHaveLength(1)
  })

  it('is left to the one who claimed it, until that one is overdue', async () => {
    writeFileSync(`${path}.held`, JSON.stringify(dead))
    linkSync(`${path}.held`, `${path}.held-dead`)
    await expect(acquireLock(path, options)).rejects.toMatchObject({ code: 'lock.busy' })
    const later = { ...realClock, now: () => new Date(Date.now() + 11_000) }
    ;(await acquireLock(path, { ...options, clock: later })).release()
    expect(existsSync(`${path}.held-dead`)).toBe(false)
  })
})

/** Another process that holds the lock until it is killed. */
async function startHolder(flock: string | null): Promise<ChildProcess> {
  const script = `
    import { acquireLock } from '${new URL('./lock.ts', import.meta.url)}'
    import { realClock } from '${new URL('./clock.ts', import.meta.url)}'
    await acquireLock(${JSON.stringify(path)}, { command: 'the holder', clock: realClock, flock: ${JSON.stringify(flock)} })
    console.log('held')
    setInterval(() => {}, 1e6)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
  children.push(child)
  await once(child.stdout!, 'data')
  return child
}
