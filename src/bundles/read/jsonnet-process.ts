// What runs inside the process that evaluates Jsonnet: one request on standard input, one answer on standard output.
import { text } from 'node:stream/consumers'
import { evaluateJsonnet } from '../../lib/jsonnet/evaluate.ts'
import type { Problem } from '../../lib/problem.ts'
import { importFrom } from './jsonnet-imports.ts'

export interface JsonnetRequest {
  readonly file: string
  readonly text: string
  /** Real paths. */
  readonly directories: readonly string[]
  readonly extVars: Readonly<Record<string, string>>
}

export type JsonnetAnswer = ({ readonly content: string } | { readonly problem: Problem }) & {
  readonly traces: readonly string[]
}

const mostTraces = 1_000

export async function runJsonnetProcess(): Promise<void> {
  const { directories, ...program } = JSON.parse(await text(process.stdin)) as JsonnetRequest
  const traces: string[] = []
  const result = evaluateJsonnet({
    ...program,
    importer: importFrom(directories),
    onTrace: line => {
      if (traces.length < mostTraces) traces.push(line)
    },
  })
  const answer: JsonnetAnswer =
    'problem' in result ? { ...result, traces } : { content: JSON.stringify(result.value, null, 2), traces }
  process.stdout.write(JSON.stringify(answer))
}
