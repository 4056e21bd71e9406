// npm run check: format, lint, types, layers, unused code, unit tests. What CI runs first, in under a minute.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'

const steps = [
  { name: 'lint', command: ['biome', 'check', '.'] },
  { name: 'types', command: ['tsc'] },
  { name: 'layers', command: ['depcruise', 'src', '--output-type', 'err'] },
  { name: 'unused code', command: ['knip'] },
  { name: 'unit tests', command: ['vitest', 'run', '--project', 'unit', '--reporter', 'dot', '--maxWorkers', '2'] },
]

/** Temporary files of the tests cost no disk where there is memory for them. */
const inMemory = existsSync('/dev/shm') && !process.env.TMPDIR ? { TMPDIR: '/dev/shm' } : {}

const results = await Promise.all(steps.map(run))
for (const { name, ok, seconds, output } of results) {
  console.log(`${ok ? '✓' : '✗'} ${name.padEnd(12)} ${seconds.toFixed(1)} s`)
  if (!ok) console.log(output)
}
process.exitCode = results.every(({ ok }) => ok) ? 0 : 1

function run({ name, command }: (typeof steps)[number]) {
  const [program = '', ...args] = command
  const started = performance.now()
  return new Promise<{ name: string; ok: boolean; seconds: number; output: string }>(done => {
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...inMemory } })
    let output = ''
    child.stdout.on('data', chunk => (output += chunk))
    child.stderr.on('data', chunk => (output += chunk))
    child.on('close', code => done({ name, ok: code === 0, seconds: (performance.now() - started) / 1000, output }))
  })
}
