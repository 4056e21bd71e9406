// npm run bench -- [SUITE…] [--quick] [--only SERIES,…] [--rounds N] [--json] [--write]: runs bench/<suite>/bench.ts and prints what it measured.
// --quick shows that the benchmark works; --write puts the tables into docs/benchmarks.md, in place of those of the same suites.
import { globSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Bench } from './lib/bench.ts'
import { readMachine } from './lib/machine.ts'
import { removeAll } from './lib/remove.ts'
import { printReport, type RunReport, type SuiteReport, withSuites } from './lib/report.ts'

const here = import.meta.dirname
const known = globSync('*/bench.ts', { cwd: here }).map(dirname).sort()
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    rounds: { type: 'string' },
    json: { type: 'boolean' },
    write: { type: 'boolean' },
  },
})
const unknown = positionals.filter(name => !known.includes(name))
if (unknown.length > 0) {
  console.error(`There is no benchmark ${unknown.join(', ')}; there are: ${known.join(', ')}.`)
  process.exit(64)
}

const directory = mkdtempSync(join(tmpdir(), 'cairn-bench-'))
for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)
  process.on(signal, () => {
    console.error(`stopped by ${signal}`)
    process.exit(code)
  })
process.on('exit', () => removeAll(directory))

const { version } = JSON.parse(readFileSync(join(here, '../package.json'), 'utf8')) as { version: string }
const suites: SuiteReport[] = []
for (const name of positionals.length > 0 ? positionals : known) {
  const { bench } = (await import(`./${name}/bench.ts`)) as { bench: Bench }
  suites.push(
    await bench({
      quick: values.quick,
      ...(values.only !== undefined && { only: values.only.split(',') }),
      ...(values.rounds !== undefined && { rounds: Number(values.rounds) }),
      directory: join(directory, name),
      say: line => console.error(`${name}: ${line}`),
    }),
  )
}
const report: RunReport = {
  date: new Date().toISOString().slice(0, 10),
  cairn: version,
  node: process.versions.node,
  machine: readMachine(directory),
  quick: values.quick,
  suites,
}
const text = printReport(report)
if (values.write) {
  const document = join(here, '../docs/benchmarks.md')
  writeFileSync(document, withSuites(readFileSync(document, 'utf8'), report))
}
console.log(values.json ? JSON.stringify(report, null, 2) : text)
