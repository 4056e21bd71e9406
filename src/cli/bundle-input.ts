// What the bundle commands share: where the resources come from, and the values that are given with them. Jsonnet is
// evaluated here, never on the server. Secret values come from files, standard input or a hidden prompt, never as arguments.
import { readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { defaultLimits, encodings, type Source } from '../bundles/model/source.ts'
import { messageOf, ProblemsError } from '../lib/errors.ts'
import type { Problem } from '../lib/problem.ts'
import type { Session } from './command.ts'
import { choice, flag, list, text, type Values } from './parameter.ts'
import { UsageError } from './usage.ts'

export const sourceOptions = {
  file: list(
    text('-f, --file PATH', 'a bundle: a file, a directory, or - for standard input; may be given again', 'file'),
  ),
  recurse: flag('-R, --recursive', 'directories with everything below them'),
  url: list(text('-u, --url URL', 'a bundle that the server fetches; may be given again')),
  encoding: choice('-e, --encoding ENCODING', 'what the files are; default by their names', encodings),
  extStr: list(text('--ext-str NAME=VALUE', 'std.extVar of Jsonnet; may be given again')),
}

export const valueOptions = {
  env: list(text('--env KEY=VALUE', 'value of an envRef; may be given again')),
  envFile: list(text('--env-file FILE', 'lines of KEY=VALUE; may be given again', 'file')),
  secret: list(text('--secret KEY', 'asks for the value, hidden; KEY=@- reads it from standard input')),
  secretFile: list(
    text('--secret-file KEY=FILE', 'value of a secretRef: all of the file but a last line feed', 'file'),
  ),
}

export const planOptions = {
  stack: text('--stack STACK', 'id or name; default the stack named like the first file or directory, made if need be'),
  name: text('--name NAME', 'that name, instead of the one of the file or directory'),
  skip: list(text('--skip KIND[/NAME]', 'leave these as they are; may be given again')),
  adopt: flag('--adopt', 'take over live resources of the same name that no stack owns'),
}

/** As the API has it. */
export interface SentSource {
  readonly name: string
  readonly content: string
  readonly encoding?: 'yaml' | 'json'
  readonly evaluated?: boolean
}

/** Throws a ProblemsError with everything that cannot be read. */
export async function readSources(values: Values<typeof sourceOptions>, session: Session): Promise<SentSource[]> {
  const { file: files = [], recurse = false, encoding } = values
  // Help and completion read this file too, and need no readers.
  const { collectSources } = await import('../bundles/read/files.ts')
  const { sources, problems } = await collectSources({
    files,
    recurse,
    ...(encoding && { encoding }),
    readStdin: () => oneChunk(session.terminal.readInput()),
    limits: defaultLimits,
  })
  const extVars = pairsOf('--ext-str', values.extStr)
  const read = await Promise.all(sources.map(source => evaluated(source, files, extVars)))
  const failed = read.filter((one): one is Problem => 'code' in one)
  if (problems.length + failed.length > 0) throw new ProblemsError([...problems, ...failed])
  return read.filter((one): one is Source => 'content' in one).map(sent)
}

async function* oneChunk(bytes: Promise<Uint8Array>) {
  yield await bytes
}

async function evaluated(source: Source, given: readonly string[], extVars: Readonly<Record<string, string>>) {
  if (source.encoding !== 'jsonnet' && !/\.(jsonnet|libsonnet)$/.test(source.name)) return source
  const directories = [dirname(source.name), ...given.filter(path => source.name.startsWith(`${path}/`))]
  const { evaluateJsonnetSource } = await import('../bundles/read/jsonnet.ts')
  return evaluateJsonnetSource(source, { directories, extVars })
}

function sent({ name, content, encoding, evaluated }: Source): SentSource {
  const text = typeof content === 'string' ? content : Buffer.from(content).toString('utf8')
  return {
    name,
    content: text,
    ...(encoding && encoding !== 'jsonnet' && { encoding }),
    ...(evaluated !== undefined && { evaluated }),
  }
}

export async function envOf(values: Values<typeof valueOptions>): Promise<Record<string, string>> {
  const fromFiles = await Promise.all((values.envFile ?? []).map(linesOf))
  return { ...pairsOf('--env-file', fromFiles.flat()), ...pairsOf('--env', values.env) }
}

async function linesOf(file: string): Promise<string[]> {
  const text = await readFile(file, 'utf8').catch(error => unreadable('--env-file', file, error))
  return text.split('\n').filter(line => line.trim() !== '' && !line.trimStart().startsWith('#'))
}

export async function secretsOf(
  values: Values<typeof valueOptions>,
  session: Session,
): Promise<Record<string, string>> {
  const secrets: Record<string, string> = {}
  for (const given of values.secretFile ?? []) {
    const [key, file] = splitPair('--secret-file', given)
    const text = await readFile(file, 'utf8').catch(error => unreadable('--secret-file', file, error))
    secrets[key] = withoutLastLineFeed(text)
  }
  for (const given of values.secret ?? []) {
    const [key = '', from] = given.split(/=(.*)/s)
    if (from === undefined) secrets[key] = await askSecret(key, session)
    else if (from === '@-')
      secrets[key] = withoutLastLineFeed(Buffer.from(await session.terminal.readInput()).toString())
    else
      throw new UsageError('usage.bad-value', `--secret ${key}=…: a secret is not given as an argument`, {
        hint: `--secret ${key} asks for it, --secret ${key}=@- reads standard input, --secret-file ${key}=FILE a file.`,
      })
  }
  return secrets
}

export async function askSecret(key: string, { terminal }: Session): Promise<string> {
  if (terminal.askHidden) return terminal.askHidden(`Secret ${key}: `)
  throw new UsageError('usage.bad-value', `--secret ${key} asks for the value, and nobody is here to answer`, {
    hint: `--secret-file ${key}=FILE or --secret ${key}=@-`,
  })
}

export function selectorsOf(given: readonly string[] = []): { kind: string; name?: string }[] {
  return given.map(word => {
    const [kind = '', name] = word.split(/\/(.*)/s)
    if (kind === '' || name === '') throw new UsageError('usage.bad-value', `"${word}" is not KIND or KIND/NAME`)
    return name === undefined ? { kind } : { kind, name }
  })
}

function pairsOf(option: string, given: readonly string[] = []): Record<string, string> {
  return Object.fromEntries(given.map(pair => splitPair(option, pair)))
}

/** At the first `=`: values may have more of them. */
function splitPair(option: string, pair: string): [key: string, value: string] {
  const at = pair.indexOf('=')
  if (at > 0) return [pair.slice(0, at).trim(), pair.slice(at + 1)]
  throw new UsageError('usage.bad-value', `${option}: "${pair.slice(0, 20)}" is not KEY=VALUE`)
}

const withoutLastLineFeed = (text: string): string => text.replace(/\r?\n$/, '')

function unreadable(flag: string, file: string, error: unknown): never {
  throw new ProblemsError([
    { code: 'input.unreadable', path: flag, reason: `cannot read ${file}: ${messageOf(error)}` },
  ])
}
