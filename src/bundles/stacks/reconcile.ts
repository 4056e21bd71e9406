// Corrects drift of the stacks that ask for it, each by its interval; deletes nothing. What is in the way is left for people.
import { parseDuration } from '../../lib/duration.ts'
import { messageOf } from '../../lib/errors.ts'
import { pages } from '../../lib/pages.ts'
import { redact } from '../../lib/redact.ts'
import type { Running } from '../apply/running.ts'
import type { EnginePorts } from '../engine.ts'
import type { Stack } from '../model/stack.ts'
import { operate } from './operate.ts'

/** The times stand in memory: after a start every stack is due once. */
export function reconciler(ports: EnginePorts, running: Running): () => Promise<void> {
  const doneAt = new Map<string, number>()

  const isDue = ({ id, config }: Stack, now: number) => {
    const last = doneAt.get(id)
    return last === undefined || now - last >= parseDuration(config.reconcile!)
  }
  const reconcile = async ({ id, name }: Stack) => {
    const operation = { stack: id, by: 'reconcile', confirm: [], lockWaitMs: 0 }
    try {
      const { outcome } = await operate(ports, running, { operation, word: 'reconcile', mode: { do: 'reconcile' } })
      if (outcome.did !== 'nothing') ports.log(`reconcile of stack ${name}: ${outcome.did}`)
    } catch (error) {
      ports.log(`reconcile of stack ${name}: ${redact(messageOf(error))}`)
    }
  }

  return async () => {
    for await (const { stacks } of pages(from => ports.store.stacks({ reconciled: true }, { limit: 100, ...from })))
      for (const stack of stacks) {
        const now = ports.clock.now().getTime()
        if (stack.state === 'uninstalled' || !isDue(stack, now)) continue
        doneAt.set(stack.id, now)
        await reconcile(stack)
      }
  }
}
