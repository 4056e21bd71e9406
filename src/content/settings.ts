// From what an owner wrote (resources/content-settings.ts) to the settings that each process gets. Everything that is wrong
// is told together; without a file the defaults hold.
import { dirname, resolve } from 'node:path'
import type * as z from 'zod'
import { durationOrProblem } from '../lib/duration.ts'
import { isErrno, ProblemsError } from '../lib/errors.ts'
import type { Files } from '../lib/files.ts'
import { fieldPath, readJson } from '../lib/located-json.ts'
import type { Problem } from '../lib/problem.ts'
import { sizeOrProblem } from '../lib/size.ts'
import { type ContentSettings, contentSettingsSchema } from '../resources/content-settings.ts'
import { schemaProblems } from '../resources/schema-problems.ts'
import { defaultSettings, type ProcessSettings } from './default-settings.ts'
import {
  type Datastore,
  datastoreSchema,
  downloadSettingsSchema,
  managerSettingsSchema,
  verifierSettingsSchema,
} from './messages.ts'

/** No file is no settings of one's own. Throws a ProblemsError that tells file, line and column. */
export function readSettings(files: Files, path: string): ProcessSettings {
  const text = readIfThere(files, path)
  if (text === null) return defaultSettings
  const json = readJson({ file: path, text })
  const locate = (problems: readonly Problem[]) =>
    problems.map(problem => ({ ...problem, source: problem.source ?? json.locate(problem.path) }))
  const parsed = contentSettingsSchema.safeParse(json.value, { reportInput: true })
  if (json.problems.length > 0) throw new ProblemsError(json.problems)
  if (!parsed.success) throw new ProblemsError(locate(schemaProblems(contentSettingsSchema, parsed.error)))
  const { settings, problems } = settingsOf(files, parsed.data, dirname(path))
  if (problems.length > 0) throw new ProblemsError(locate(problems))
  return settings
}

function settingsOf(files: Files, given: ContentSettings, directory: string) {
  const problems: Problem[] = []
  /** The value, or the default when it is absent or wrong; what is wrong is told. */
  const read = <Value>(
    key: keyof ContentSettings,
    fallback: Value,
    schema: z.ZodType<Value>,
    value: unknown,
  ): Value => {
    if (value === undefined) return fallback
    const parsed = schema.safeParse(value)
    if (parsed.success) return parsed.data
    problems.push({ code: 'value.invalid', path: fieldPath('', key), reason: parsed.error.issues[0]!.message })
    return fallback
  }
  const seconds = (key: keyof ContentSettings): number | undefined => {
    const value = given[key]
    if (typeof value !== 'string') return value as number | undefined
    const ms = durationOrProblem(value, fieldPath('', key))
    if (typeof ms === 'number') return Math.ceil(ms / 1000)
    problems.push(ms)
    return undefined
  }
  const { downloader, manager, verifier } = defaultSettings
  const download = downloadSettingsSchema.shape
  const manage = managerSettingsSchema.shape
  const bandwidth = bandwidthOf(given, problems)
  const gcKey = given['content.gc.volume'] === undefined ? 'timer.gc.vdisk' : 'content.gc.volume'
  const containerd = given['content.containerd']
  const settings: ProcessSettings = {
    ...(containerd !== undefined && { containerd }),
    downloader: {
      datastores: (given.datastores ?? []).flatMap(
        (one, index) => datastoreOf(files, one, { directory, at: `datastores[${index}]`, problems }) ?? [],
      ),
      atOnce: read('content.atOnce', downloader.atOnce, download.atOnce, given['content.atOnce']),
      perHost: read('content.perHost', downloader.perHost, download.perHost, given['content.perHost']),
      linkCost: read('content.linkCost', downloader.linkCost, download.linkCost, given['content.linkCost']),
      maxCost: read('content.maxCost', downloader.maxCost, download.maxCost, given['content.maxCost']),
      stallSeconds: read('content.stall', downloader.stallSeconds, download.stallSeconds, seconds('content.stall')),
      retrySeconds: read('content.retry', downloader.retrySeconds, download.retrySeconds, seconds('content.retry')),
      ...(bandwidth !== undefined && { bandwidth }),
    },
    manager: {
      gcVolumeSeconds: read(gcKey, manager.gcVolumeSeconds, manage.gcVolumeSeconds, seconds(gcKey)),
      deleteDelaySeconds: read(
        'content.deleteDelay',
        manager.deleteDelaySeconds,
        manage.deleteDelaySeconds,
        seconds('content.deleteDelay'),
      ),
      attempts: read('content.attempts', manager.attempts, manage.attempts, given['content.attempts']),
      reserve: given['content.reserve'] ?? manager.reserve,
      maintenance: given['content.maintenance'] ?? manager.maintenance,
    },
    verifier: {
      rehash: given['content.rehash'] ?? verifier.rehash,
      quarantine: read(
        'content.quarantine.keep',
        verifier.quarantine,
        verifierSettingsSchema.shape.quarantine,
        given['content.quarantine.keep'],
      ),
    },
  }
  return { settings, problems }
}

function bandwidthOf(given: ContentSettings, problems: Problem[]): number | undefined {
  const text = given['content.bandwidth']
  if (text === undefined) return undefined
  const bytes = sizeOrProblem(text, fieldPath('', 'content.bandwidth'))
  if (typeof bytes === 'number') return bytes
  problems.push(bytes)
  return undefined
}

type WrittenDatastore = NonNullable<ContentSettings['datastores']>[number]

function datastoreOf(
  files: Files,
  { passwordFile, caFile, ...written }: WrittenDatastore,
  { directory, at, problems }: { directory: string; at: string; problems: Problem[] },
): Datastore | null {
  const textOf = (field: string, path: string): string | undefined => {
    const text = readIfThere(files, resolve(directory, path))
    if (text === null) problems.push({ code: 'file.missing', path: `${at}.${field}`, reason: `${path} does not exist` })
    return text ?? undefined
  }
  const password = passwordFile === undefined ? undefined : textOf('passwordFile', passwordFile)?.split('\n')[0]
  const ca = caFile === undefined ? undefined : textOf('caFile', caFile)
  const store = { ...written, ...(password !== undefined && { password }), ...(ca !== undefined && { ca }) }
  const parsed = datastoreSchema.safeParse(store)
  if (parsed.success) return parsed.data
  // Which value was wrong is told, never what it was.
  problems.push(...parsed.error.issues.map(issue => wrongDatastore(at, issue)))
  return null
}

const wrongDatastore = (at: string, { path, message }: z.core.$ZodIssue): Problem => ({
  code: 'value.invalid',
  path: [at, ...path].join('.'),
  reason: message,
})

function readIfThere(files: Files, path: string): string | null {
  try {
    return files.readFile(path).toString('utf8')
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ENOTDIR')) return null
    throw error
  }
}
