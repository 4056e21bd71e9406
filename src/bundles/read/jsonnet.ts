// Evaluates a Jsonnet source in a process of its own: killed at the time limit, ended by the memory limit, and able to read
// nothing but Cairn's code and the directories it may import from. What comes back is a Source of JSON, or what is wrong.
import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { CairnError, isErrno } from '../../lib/errors.ts'
import type { Problem } from '../../lib/problem.ts'
import { type RunResult, run } from '../../lib/run.ts'
import type { Source } from '../model/source.ts'
import type { JsonnetAnswer, JsonnetRequest } from './jsonnet-process.ts'

export interface JsonnetOptions {
  /** Imports are looked for beside the importing file and in these, and are refused outside them; none: no imports. */
  readonly directories: readonly string[]
  /** What std.extVar gives. */
  readonly extVars: Readonly<Record<string, string>>
  readonly timeoutMs?: number
  /** Of JavaScript's heap. */
  readonly memoryMiB?: number
  /** Hears std.trace, when the evaluation is over. */
  readonly onTrace?: (line: string) => void
}

export async function evaluateJsonnetSource(source: Source, options: JsonnetOptions): Promise<Source | Problem> {
  const { extVars, timeoutMs = 5_000, memoryMiB = 256, onTrace } = options
  const { name, content } = source
  const directories = options.directories.flatMap(realDirectory)
  const text = typeof content === 'string' ? content : new TextDecoder().decode(content)
  const request: JsonnetRequest = { file: name, text, directories, extVars }
  const args = [...nodeFlags(memoryMiB, [...codePlaces(), ...directories]), mainFile(), '--jsonnet-process']
  try {
    const result = await run(process.execPath, args, {
      input: JSON.stringify(request),
      timeoutMs,
      maxOutput: 64 * 2 ** 20,
      env: { NODE_OPTIONS: '' },
    })
    if (result.code !== 0) return died(name, result, memoryMiB)
    const answer = JSON.parse(result.stdout) as JsonnetAnswer
    for (const line of answer.traces) onTrace?.(line)
    return 'problem' in answer ? answer.problem : { name, content: answer.content, encoding: 'json', evaluated: true }
  } catch (error) {
    if (error instanceof CairnError && error.code === 'program.timeout')
      return problem('jsonnet.too-long', name, `not done within ${timeoutMs / 1000} s`)
    throw error
  }
}

/** A directory that is not there has nothing to import. */
function realDirectory(path: string): string[] {
  try {
    return [realpathSync.native(path)]
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ENOTDIR')) return []
    throw error
  }
}

/** A stack for the limit on depth, which is then reached first; the usual limit of the system is twice that. */
const nodeFlags = (memoryMiB: number, readable: readonly string[]) => [
  `--max-old-space-size=${memoryMiB}`,
  '--stack-size=3900',
  '--disable-warning=ExperimentalWarning',
  '--permission',
  ...readable.map(path => `--allow-fs-read=${path}`),
]

/** Where Cairn's own files are, when run from the sources; null in the bundle, which is all in one directory. */
const [, project = null] = /^(.*)\/src\/bundles\/read$/.exec(import.meta.dirname) ?? []

const mainFile = () => (project === null ? join(import.meta.dirname, 'cairn.js') : join(project, 'src/cli/main.ts'))

function codePlaces(): readonly string[] {
  if (project === null) return [import.meta.dirname, join(import.meta.dirname, '../package.json')]
  return ['src', 'node_modules', 'package.json'].map(name => join(project, name))
}

function died(name: string, { code, signal, stderr }: RunResult, memoryMiB: number): Problem {
  if (/heap out of memory|Allocation failed/.test(stderr))
    return problem('jsonnet.too-large', name, `needs more than ${memoryMiB} MiB of memory`)
  if (signal === 'SIGSEGV') return problem('jsonnet.recursion', name, 'nested too deeply to be evaluated')
  throw new CairnError('jsonnet.not-evaluated', `the process that evaluates ${name} ended with ${signal ?? code}`, {
    cause: new Error(stderr),
  })
}

const problem = (code: Problem['code'], file: string, reason: string): Problem => ({
  code,
  path: '',
  reason,
  source: { file, line: 1, column: 1 },
})
