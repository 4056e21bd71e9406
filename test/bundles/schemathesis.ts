// schemathesis against a running server: requests made from its own OpenAPI document, every answer held against it.
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeTree } from '../../src/lib/durable.ts'
import { realFiles } from '../../src/lib/files.ts'
import { type Finished, run } from '../machine/process.ts'
import { schemathesisPrograms } from './schemathesis-programs.ts'

export interface FuzzRun {
  readonly url: string
  readonly token: string
  readonly seed: number
  /** For each operation and phase. */
  readonly examples: number
  /** Names of things that are there; without them nearly everything would be 404. */
  readonly known: {
    readonly kinds: readonly string[]
    readonly stacks: readonly string[]
    readonly resources: readonly string[]
  }
}

/** Ends with code 0 when every answer was as the document says. */
export function runSchemathesis({ url, token, seed, examples, known }: FuzzRun): Promise<Finished> {
  return inDirectory(directory => {
    writeFileSync(join(directory, 'schemathesis.toml'), configuration(known))
    const options = [
      '--seed',
      `${seed}`,
      '--max-examples',
      `${examples}`,
      '--workers',
      '1',
      '--no-color',
      '--continue-on-failure',
    ]
    return run(
      ['timeout', '--kill-after=5', '280', program('schemathesis'), 'run', `${url}/api/v1/openapi.json`, ...options],
      {
        cwd: directory,
        // The token is in no argument list.
        env: {
          PATH: '/usr/bin:/bin',
          HOME: directory,
          LC_ALL: 'C.UTF-8',
          PYTHONPATH: import.meta.dirname,
          PYTHONDONTWRITEBYTECODE: '1',
          CAIRN_FUZZ_TOKEN: token,
        },
      },
    )
  })
}

/** Ends with code 0 when it is OpenAPI 3.1. */
export function validateOpenApi(document: string): Promise<Finished> {
  return inDirectory(directory => {
    const file = join(directory, 'openapi.json')
    writeFileSync(file, document)
    return run([program('openapi-spec-validator'), '--schema', '3.1', file], {
      env: { PATH: '/usr/bin:/bin', HOME: directory },
    })
  })
}

const program = (name: string): string => join(schemathesisPrograms() ?? '', name)

async function inDirectory<Result>(work: (directory: string) => Promise<Result>): Promise<Result> {
  const directory = mkdtempSync(join(tmpdir(), 'cairn-fuzz-'))
  try {
    return await work(directory)
  } finally {
    removeTree(realFiles, directory)
  }
}

/**
 * All checks, with these words: a request that fits the document may still be refused for what it says (409, 412, 422,
 * 428); that it cannot be read (400) is for the few parameters whose rules a schema cannot tell. The event stream is left
 * out, since it never ends; sse.test.ts has it.
 */
const configuration = ({ kinds, stacks, resources }: FuzzRun['known']): string => `
hooks = "schemathesis_hooks"
request-timeout = 30
warnings = false

[auth.openapi.token]
bearer = "\${CAIRN_FUZZ_TOKEN}"

[generation]
database = "none"
# No text of ours holds a NUL; malformed.test.ts sends them.
allow-x00 = false

[cache]
enabled = false

[checks.positive_data_acceptance]
expected-statuses = ["2xx", 401, 403, 404, 409, 412, 422, 428]

[dictionaries]
kinds = { values = ${JSON.stringify(kinds)} }
stacks = { values = ${JSON.stringify(stacks)} }
resources = { values = ${JSON.stringify(resources)} }

[parameters]
"path.kind" = { dictionary = "kinds", probability = 0.9 }

[[operations]]
include-operation-id = "events"
enabled = false

[[operations]]
include-path-regex = "^/api/v1/stacks/"
parameters = { "path.id" = { dictionary = "stacks", probability = 0.8 } }

[[operations]]
include-path-regex = "^/api/v1/resources/"
parameters = { "path.id" = { dictionary = "resources", probability = 0.8 } }

# \`cursor\` is what an earlier page gave.
[[operations]]
include-operation-id = ["listStacks", "listResources"]
checks.positive_data_acceptance.expected-statuses = ["2xx", 400, 403, 404]

# A spec is free of form, but \`__proto__\` is no key.
[[operations]]
include-operation-id = ["createResource", "putResource", "putStatus"]
checks.positive_data_acceptance.expected-statuses = ["2xx", 400, 403, 404, 409, 412, 422]

# The stack stands in the query or in the body, not in both. Every kind is in their bodies: to go through all corners of all
# kinds takes minutes, so they are drawn instead, and more often than others.
[[operations]]
include-operation-id = ["planBundle", "applyBundle"]
checks.positive_data_acceptance.expected-statuses = ["2xx", 400, 403, 404, 409, 422, 428]
phases.coverage.enabled = false
generation.max-examples = 60
`
