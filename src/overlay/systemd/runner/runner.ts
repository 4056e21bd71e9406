// The service manager of a machine that is only a directory: it runs simple services as child processes, without root.
// It is no simulator: what it does not have it refuses by name, and what it says about a unit it has seen.
//
// Holds: one runner at a time has a root; all that it started ends with it, and what one that was killed has left is ended
// by the next. Definitions are those of the last daemonReload().
import { isAbsolute, join } from 'node:path'
import { type Clock, realClock } from '../../../lib/clock.ts'
import { CairnError } from '../../../lib/errors.ts'
import { type Files, realFiles } from '../../../lib/files.ts'
import { acquireLock, type Lock } from '../../../lib/lock.ts'
import { layoutOf } from '../../layout.ts'
import type { UnitName } from '../../names.ts'
import type { Systemd } from '../systemd.ts'
import { endAll, signalAll } from './invocation.ts'
import { laterCommands } from './later.ts'
import { launcherFor } from './launch.ts'
import { endLeftovers, openLedger } from './ledger.ts'
import { logAt } from './log.ts'
import { manageUnits } from './manager.ts'
import { makePlace, placeOf, type RunnerPlace } from './place.ts'
import { readUnitFiles } from './unit-files.ts'

export interface Runner extends Systemd {
  /** Units of a runner that was killed, which were still running and have been ended. */
  readonly leftovers: readonly UnitName[]
  /** Stops every unit in its order and gives the root free. The runner is of no use afterwards. */
  end(): Promise<void>
}

export interface RunnerOptions {
  /** An absolute path, not /. */
  readonly root: string
  readonly store?: string
  readonly files?: Files
  readonly clock?: Clock
}

const lastChanceMs = 2_000

export async function openRunner(options: RunnerOptions): Promise<Runner> {
  const { root, files = realFiles, clock = realClock } = options
  if (!isAbsolute(root) || root === '/')
    throw new CairnError('runner.no-root', `the runner is for machines below a directory, not for "${root}"`)
  const place = placeOf(root)
  makePlace(files, place)
  const lock = await acquireLock(place.lock, { command: 'the runner', clock, files })
  try {
    return await runIn(place, options, lock)
  } catch (error) {
    lock.release()
    throw error
  }
}

async function runIn(place: RunnerPlace, options: RunnerOptions, lock: Lock): Promise<Runner> {
  const { root, store, files = realFiles, clock = realClock } = options
  const layout = layoutOf({ root, ...(store === undefined ? {} : { store }) })
  const leftovers = await endLeftovers(files, place.ledger, clock)
  const ledger = openLedger(files, place.ledger, clock)
  const logOf = (unit: UnitName) => logAt(files, join(place.logs, `${unit}.log`))
  const launch = launcherFor({ files, layout, ledger, logOf })
  const manager = manageUnits({ launch, ledger, readUnitFiles: () => readUnitFiles(files, layout) })
  const later = laterCommands({ ledger, logOf, directory: root })

  /** For an end that nobody waits for: an uncaught error, process.exit(). */
  const killAll = () => {
    for (const invocation of ledger.all()) signalAll(invocation, 'SIGKILL')
  }
  process.on('exit', killAll)

  return {
    kind: 'runner',
    ...manager,
    runLater: later.runLater,
    cancelLater: later.cancelLater,
    lastLines: async (unit, count) => logOf(unit).tail(count),
    leftovers,
    close() {},
    end: async () => {
      later.cancelAll()
      const services = (await manager.active()).filter(unit => unit.endsWith('.service'))
      await manager.run(services.map(unit => ({ do: 'stop', unit, timeoutMs: Number.POSITIVE_INFINITY })))
      await Promise.all(ledger.all().map(rest => endAll(rest, { signal: 'SIGTERM', timeoutMs: lastChanceMs })))
      process.off('exit', killAll)
      lock.release()
    },
  }
}
