// The locks around the store. gc stands between those who begin to use states and the one who collects them: temp roots are
// registered under it, and the collector holds it for each batch. collector: one collection at a time. apply: the machine's
// lock for every switch of generations; the collector takes it to remove some.
import { join } from 'node:path'
import type { Clock } from '../../../lib/clock.ts'
import type { Files } from '../../../lib/files.ts'
import { acquireLock, type Lock } from '../../../lib/lock.ts'
import type { Layout } from '../../layout.ts'

export interface StoreContext {
  readonly files: Files
  readonly layout: Layout
  readonly clock: Clock
}

export type TakeLock = (
  context: StoreContext,
  lock: { name: 'gc' | 'collector' | 'apply'; command: string },
) => Promise<Lock>

/** A batch takes milliseconds; whoever waits this long for gc waits for something that hangs. The others are not waited for. */
export const takeStoreLock: TakeLock = ({ layout, clock, files }, { name, command }) =>
  acquireLock(join(layout.locks, name), { command, clock, files, waitMs: name === 'gc' ? 60_000 : 0 })
