// What all commands that speak to a control plane share: where it is, who asks, and what its refusals mean here.
// The token of the local server is sent to that server only, never to one that was named.
import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { CairnError, isErrno, messageOf, ProblemsError, RefusedError } from '../lib/errors.ts'
import { Secret } from '../lib/redact.ts'
import type { ApiError, Client, ClientOptions } from '../server/client.ts'
import { text, type Values } from './parameter.ts'

export const bundleGroup = 'Bundles and stacks'
export const controlPlane = 'Control plane'

export const serverOptions = {
  server: text('--server URL', 'the control plane; default CAIRN_SERVER, else the one on this computer'),
  tokenFile: text('--token-file FILE', 'file with your token; default CAIRN_TOKEN, else the one cairn up made', 'file'),
  caFile: text('--ca-file FILE', 'certificate authority of the server, in PEM; default CAIRN_CA_FILE', 'file'),
}

export const dataOption = text('--data DIR', 'where the control plane keeps its data; default CAIRN_DATA', 'directory')

/** A folder of the user; of the system for root. */
export function dataDirectory(given: string | undefined, env: NodeJS.ProcessEnv = process.env): string {
  if (given ?? env.CAIRN_DATA) return given ?? env.CAIRN_DATA ?? ''
  if (process.getuid?.() === 0) return '/var/lib/cairn'
  return join(env.XDG_DATA_HOME ?? join(homedir(), '.local/share'), 'cairn')
}

/** What cairn up writes beside its data. */
interface LocalServer {
  readonly url: string
  readonly caFile?: string
  readonly tokenFile: string
}

const defaultUrl = 'http://127.0.0.1:8420'

function clientOptions({ server, tokenFile, caFile }: Values<typeof serverOptions>, env = process.env): ClientOptions {
  const named = server ?? env.CAIRN_SERVER
  const local = localServer(env)
  const isLocal = named === undefined || named === local?.url
  const ca = caFile ?? env.CAIRN_CA_FILE ?? (isLocal ? local?.caFile : undefined)
  const token = tokenOf(tokenFile, env, isLocal ? local : null)
  return {
    url: named ?? local?.url ?? defaultUrl,
    ...(token && { token }),
    ...(ca !== undefined && { ca: textOf(ca, '--ca-file') }),
  }
}

function localServer(env: NodeJS.ProcessEnv): LocalServer | null {
  try {
    return JSON.parse(readFileSync(join(dataDirectory(undefined, env), 'server.json'), 'utf8')) as LocalServer
  } catch {
    return null
  }
}

function tokenOf(file: string | undefined, env: NodeJS.ProcessEnv, local: LocalServer | null): Secret | null {
  if (file !== undefined) return new Secret(textOf(file, '--token-file').trim())
  if (env.CAIRN_TOKEN) return new Secret(env.CAIRN_TOKEN.trim())
  if (!local) return null
  try {
    return new Secret(readFileSync(local.tokenFile, 'utf8').trim())
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'EACCES')) return null
    throw error
  }
}

export function textOf(file: string, flag: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new ProblemsError([
      { code: 'input.unreadable', path: flag, reason: `cannot read ${file}: ${messageOf(error)}` },
    ])
  }
}

/** One conversation with the server; its refusals come as the errors of this command line. */
export async function withServer<Result>(
  values: Values<typeof serverOptions>,
  work: (client: Client) => Promise<Result>,
): Promise<Result> {
  // Help and completion read this file too, and need no HTTP.
  const { ApiError, createClient } = await import('../server/client.ts')
  const client = createClient(clientOptions(values))
  try {
    return await work(client)
  } catch (error) {
    throw error instanceof ApiError ? asRefusal(error) : error
  } finally {
    await client.close()
  }
}

/** An answer of the server that is no 2xx, as the error that this command line ends with. */
function asRefusal(error: ApiError): CairnError {
  const { status, problems, code, message, hint } = error
  if ([400, 413, 415, 422].includes(status)) return new ProblemsError(problems)
  // What the server advises is for programs that make their own requests.
  if (status === 401)
    return new RefusedError(code, message, {
      hint: 'Give --token-file or CAIRN_TOKEN; an admin makes tokens with cairn token create.',
    })
  // Problems carry their own hints.
  if ([403, 404, 409, 412, 428, 429].includes(status)) return new RefusedError(code, message, { problems })
  return new CairnError(code, message, hint === undefined ? { cause: error } : { hint, cause: error })
}
