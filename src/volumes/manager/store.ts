// The manager's own small files: latches, deferred deletes, purge counters, what the container runtime was given, when
// collecting began, and the records of volumes. Each is written beside its place, synced, and renamed; what cannot be read
// is left where it is and counts as absent.
import { join } from 'node:path'
import * as z from 'zod'
import { mediaTypeSchema, sha256Schema } from '../../content/messages.ts'
import type { ManagerContext } from '../../content/process/calls.ts'
import { writeSmallFile } from '../../content/process/small-file.ts'
import { makeDirectories, removeIfThere } from '../../lib/durable.ts'
import { isErrno } from '../../lib/errors.ts'
import { canonicalJson, type Json, sha256Hex } from '../../lib/json.ts'
import type { Latch } from '../switchboard/protocol.ts'

export interface Store {
  writeLatch(key: string, latch: Latch): Promise<void>
  forgetLatch(key: string): void
  writeDeferred(sha256: string, due: number): Promise<void>
  forgetDeferred(sha256: string): void
  writeLoaded(name: string): Promise<void>
  forgetLoaded(name: string): void
  writeGcStart(monotonic: number): Promise<void>
  /** Beside the volumes. */
  writeRecord(name: string, text: string): Promise<void>
  read(): Stored
}

export interface Stored {
  readonly latches: ReadonlyMap<string, Latch>
  readonly deferred: ReadonlyMap<string, number>
  readonly purges: ReadonlyMap<string, number>
  readonly loaded: readonly string[]
  /** Null when it was in another boot. */
  readonly gcStart: number | null
}

const latchSchema = z.strictObject({
  sha256: sha256Schema,
  mediaType: mediaTypeSchema.optional(),
  size: z.number().int().min(0).optional(),
  signatures: z.array(z.strictObject({ sha256: sha256Schema, mediaType: mediaTypeSchema.optional() })).optional(),
})
const deferredSchema = z.strictObject({ due: z.iso.datetime() })
const purgesSchema = z.strictObject({
  purges: z
    .number()
    .int()
    .min(0)
    .max(2 ** 31),
})
const loadedSchema = z.strictObject({ name: z.string() })
const gcSchema = z.strictObject({ bootId: z.string(), monotonic: z.number().min(0) })

export function openStore(context: ManagerContext): Store {
  const { files, layout, clock } = context
  const at = (folder: string) => join(layout.manager, folder)
  const writeText = async (directory: string, name: string, text: string) => {
    makeDirectories(files, directory, 0o700)
    await writeSmallFile(context, { directory, name: `${name}.json`, text, mode: 0o600 })
  }
  const write = (folder: string, name: string, value: object) =>
    writeText(at(folder), name, `${canonicalJson(value as Json)}\n`)
  const forget = (folder: string, name: string) => removeIfThere(files, join(at(folder), `${name}.json`))
  const readAll = <Value>(folder: string, schema: z.ZodType<Value>) => readSmall(context, at(folder), schema)
  const loadedName = (name: string) => sha256Hex(name)
  return {
    writeLatch: (key, latch) => write('latches', key, latch),
    forgetLatch: key => forget('latches', key),
    writeDeferred: (sha256, due) => write('deferred', sha256, { due: new Date(due).toISOString() }),
    forgetDeferred: sha256 => forget('deferred', sha256),
    writeLoaded: name => write('loaded', loadedName(name), { name }),
    forgetLoaded: name => forget('loaded', loadedName(name)),
    writeGcStart: monotonic => write('gc', 'start', { bootId: clock.bootId(), monotonic }),
    writeRecord: (name, text) => writeText(join(layout.volumes, 'records'), name, text),
    read() {
      const gc = readAll('gc', gcSchema).get('start')
      return {
        latches: readAll('latches', latchSchema),
        deferred: new Map([...readAll('deferred', deferredSchema)].map(([key, { due }]) => [key, Date.parse(due)])),
        purges: new Map([...readAll('purges', purgesSchema)].map(([key, { purges }]) => [key, purges])),
        loaded: [...readAll('loaded', loadedSchema).values()].map(({ name }) => name),
        gcStart: gc?.bootId === clock.bootId() ? gc.monotonic : null,
      }
    },
  }
}

function readSmall<Value>(
  { files, log }: ManagerContext,
  directory: string,
  schema: z.ZodType<Value>,
): Map<string, Value> {
  const values = new Map<string, Value>()
  for (const name of namesIn(files, directory)) {
    const path = join(directory, name)
    // Half-written when the power went.
    if (/^\..+\.tmp-[0-9a-f]{12}$/.test(name)) removeIfThere(files, path)
    if (name.startsWith('.') || !name.endsWith('.json')) continue
    const value = parse(files.readFile(path).toString('utf8'), schema)
    if (value === null) log(`${path} cannot be read and counts as absent`)
    else values.set(name.slice(0, -'.json'.length), value)
  }
  return values
}

function namesIn(files: ManagerContext['files'], directory: string): string[] {
  try {
    return files.readdir(directory).sort()
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return []
    throw error
  }
}

function parse<Value>(text: string, schema: z.ZodType<Value>): Value | null {
  try {
    return schema.safeParse(JSON.parse(text)).data ?? null
  } catch {
    return null
  }
}
