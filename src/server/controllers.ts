// What one of all servers on a database does: corrects drift of the stacks that ask for it, and drops what nobody needs any
// more. A failure is logged and tried again; it never ends the loop.
import type { Logger } from 'pino'
import type { Engine } from '../bundles/engine.ts'
import type { Clock } from '../lib/clock.ts'
import { messageOf } from '../lib/errors.ts'
import { redact } from '../lib/redact.ts'
import type { Database } from './ports.ts'

const reconcileMs = 5_000
const tidyMs = 3_600_000

export function runControllers({
  engine,
  database,
  clock,
  logger,
}: {
  readonly engine: Pick<Engine, 'reconcileDue'>
  readonly database: Pick<Database, 'leadership' | 'tidy'>
  readonly clock: Clock
  readonly logger: Logger
}): { stop(): Promise<void> } {
  const attempt = async (what: string, work: () => Promise<void>) => {
    try {
      await work()
    } catch (error) {
      logger.warn({ what, reason: redact(messageOf(error)) }, 'a controller failed; it tries again')
    }
  }
  return database.leadership.lead(async signal => {
    logger.info('this server leads')
    for (let tidiedAt = 0; !signal.aborted; ) {
      await attempt('reconcile', () => engine.reconcileDue())
      const now = clock.now().getTime()
      if (!signal.aborted && now - tidiedAt >= tidyMs) {
        tidiedAt = now
        await attempt('tidy', () => database.tidy())
      }
      await clock.sleep(reconcileMs, signal).catch(() => {})
    }
  })
}
