// Databases for tests: SQLite in a directory of its own, which goes with it.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { memoryPlatform } from '../../bundles/apply/platform.fake.ts'
import type { EnginePorts } from '../../bundles/engine.ts'
import { defaultLimits } from '../../bundles/model/source.ts'
import type { Write } from '../../bundles/platform.ts'
import { foreignKind, testKinds } from '../../bundles/validate/kinds.fake.ts'
import { type Clock, realClock } from '../../lib/clock.ts'
import { makeId } from '../../lib/id.ts'
import type { Database } from '../ports.ts'
import { type DatabaseOptions, openDatabase } from './open.ts'

export interface TemporaryDatabase extends Database {
  readonly dataDirectory: string
}

export const temporaryDirectory = (): string => mkdtempSync(join(tmpdir(), 'cairn-database-'))

/** Closing it removes the directory, unless it was given. */
export async function temporaryDatabase(options: Partial<DatabaseOptions> = {}): Promise<TemporaryDatabase> {
  const dataDirectory = options.dataDirectory ?? temporaryDirectory()
  const remove = () => {
    if (!options.dataDirectory) rmSync(dataDirectory, { recursive: true })
  }
  try {
    const all = { kinds: ownKinds, clock: realClock, log: () => {}, ...options, dataDirectory }
    const database = await openDatabase(all)
    return { ...database, dataDirectory, close: () => database.close().finally(remove) }
  } catch (error) {
    remove()
    throw error
  }
}

/** As the suites of a store and a platform want it. */
export function underTest(database: Database) {
  return {
    store: database.store,
    platform: database.platform,
    close: database.close,
    write: async (writes: readonly Write[]) => {
      await database.store.transaction(tx => tx.write(writes))
      return []
    },
  }
}

/** As the suite of the engine wants it: beside the platform of the database another one, `far`, with a journal. */
export function engineUnderTest(database: Database, clock: Clock) {
  const platforms = [
    database.platform,
    memoryPlatform({ kinds: [foreignKind], transaction: 'journal', clientIds: true, clock, name: 'far' }),
  ]
  const ports: EnginePorts = {
    store: database.store,
    platforms,
    clock,
    newId: () => makeId(clock.now()),
    limits: defaultLimits,
    fetchSource: async url => ({ code: 'url.unreachable', path: url, reason: 'there is no network here' }),
    log: () => {},
  }
  return { ports, close: database.close }
}

const ownKinds = testKinds.filter(kind => kind !== foreignKind)
