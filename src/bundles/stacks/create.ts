// An empty record, with or without URLs. Names need not be unique.
import { ProblemsError } from '../../lib/errors.ts'
import type { EnginePorts } from '../engine.ts'
import type { Stack } from '../model/stack.ts'
import { newStack } from './new-stack.ts'
import { type StackSettings, settingsProblems, settled } from './settings.ts'

export async function createStack(
  ports: EnginePorts,
  { by, ...settings }: StackSettings & { readonly name: string; readonly by: string },
): Promise<Stack> {
  const problems = settingsProblems(settings)
  if (problems.length > 0) throw new ProblemsError(problems)
  const at = ports.clock.now().toISOString()
  const empty = newStack({ id: ports.newId(), name: settings.name, at })
  const stack: Stack = { ...empty, ...settled(empty, settings) }
  await ports.store.transaction(async tx => {
    await tx.insertStack(stack)
    await tx.addEvent(stack.id, { type: 'create', at, by, sources: [], changes: [], outcome: 'created' })
  })
  return stack
}
