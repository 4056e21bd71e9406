// Name, description, URLs and interval of a stack. Lists are replaced as a whole; nothing changed is no write and no event.
import { ProblemsError } from '../../lib/errors.ts'
import { isEqual } from '../../lib/json.ts'
import { withLock } from '../apply/lock.ts'
import type { EnginePorts } from '../engine.ts'
import type { Stack } from '../model/stack.ts'
import { findStack } from './find.ts'
import { refuseIfMoved } from './operate.ts'
import { type StackSettings, settingsProblems, settled } from './settings.ts'

/** An apply that is about to end is waited for. */
const lockWaitMs = 5_000

export async function updateStack(
  ports: EnginePorts,
  idOrName: string,
  change: StackSettings,
  { by, ifRevision }: { readonly by: string; readonly ifRevision?: number },
): Promise<Stack> {
  const problems = settingsProblems(change)
  if (problems.length > 0) throw new ProblemsError(problems)
  const { id, name } = await findStack(ports.store, idOrName)
  const wish = { key: id, name, holder: by, operation: 'update', waitMs: lockWaitMs }
  return withLock(ports, wish, async ({ lease }) => {
    const stack = await findStack(ports.store, id)
    refuseIfMoved(stack, ifRevision)
    const { name, description, config } = stack
    const wanted = settled(stack, change)
    const fields = (['name', 'description', 'config'] as const).filter(
      field => !isEqual({ name, description, config }[field], wanted[field]),
    )
    if (fields.length === 0) return stack
    const at = ports.clock.now().toISOString()
    await ports.store.transaction(async tx => {
      await tx.assertLease(lease)
      await tx.updateStack(id, stack.revision, { ...wanted, updatedAt: at })
      const outcome = `changed: ${fields.join(', ')}`
      await tx.addEvent(id, { type: 'update', at, by, sources: [], changes: [], outcome })
    })
    return findStack(ports.store, id)
  })
}
