import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { startTimeOf } from './process-identity.ts'
import { findProgram, run } from './run.ts'

const sh = findProgram('sh')!

it('finds a program by its absolute path, and says when there is none', () => {
  expect(sh).toMatch(/^\/.*\/sh$/)
  expect(findProgram('no-such-program-here')).toBeNull()
})

it('gives exit code, both outputs, and passes the input', async () => {
  const result = await run(sh, ['-c', 'cat; echo wrong >&2; exit 3'], { input: 'hello' })
  expect(result).toEqual({ code: 3, signal: null, stdout: 'hello', stderr: 'wrong\n' })
})

it('passes arguments as they are, through no shell', async () => {
  const argument = '$(id); "x" *'
  expect((await run(findProgram('printf')!, ['%s', argument])).stdout).toBe(argument)
})

it('says which signal ended the program', async () => {
  expect(await run(sh, ['-c', 'kill -9 $$'])).toMatchObject({ code: null, signal: 'SIGKILL' })
})

it('adds to the environment and fixes the locale', async () => {
  const { stdout } = await run(sh, ['-c', 'echo $LC_ALL $EXTRA'], { env: { EXTRA: 'given' } })
  expect(stdout).toBe('C.UTF-8 given\n')
})

it('kills the program and what it started when it takes too long', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'cairn-run-'))
  try {
    const pidFile = join(directory, 'pid')
    const script = `sleep 60 & echo $! > ${pidFile}; wait`
    await expect(run(sh, ['-c', script], { timeoutMs: 300 })).rejects.toMatchObject({ code: 'program.timeout' })
    const grandchild = Number(readFileSync(pidFile, 'utf8'))
    await expect.poll(() => startTimeOf(grandchild)).toBeNull()
  } finally {
    rmSync(directory, { recursive: true })
  }
})

it('stops when told to', async () => {
  const stop = new AbortController()
  const running = run(sh, ['-c', 'sleep 60'], { signal: stop.signal })
  stop.abort(new Error('enough'))
  await expect(running).rejects.toThrow('enough')
  await expect(run(sh, ['-c', 'true'], { signal: stop.signal })).rejects.toThrow('enough')
})

it('does not fill the memory with what a program writes', async () => {
  await expect(run(findProgram('yes')!, [], { maxOutput: 100_000 })).rejects.toMatchObject({
    code: 'program.output-too-long',
  })
})

it('keeps the end of a long error output', async () => {
  const { stderr } = await run(sh, ['-c', 'yes | head -c 200000 >&2; echo the reason >&2'])
  expect(stderr.length).toBe(64 * 1024)
  expect(stderr.endsWith('the reason\n')).toBe(true)
})

it('survives a program that does not read its input', async () => {
  expect((await run(findProgram('true')!, [], { input: 'x'.repeat(1_000_000) })).code).toBe(0)
})

it('says that a program is not installed', async () => {
  await expect(run('/usr/bin/no-such-program-here', [])).rejects.toMatchObject({ code: 'program.missing' })
})
