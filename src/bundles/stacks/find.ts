// One stack by its id, or by a name that only one stack has.
import { RefusedError } from '../../lib/errors.ts'
import { didYouMean } from '../../lib/suggest.ts'
import type { Stack } from '../model/stack.ts'
import type { Store } from '../store.ts'

/** Throws RefusedError `stack.unknown` or `stack.ambiguous`. */
export async function findStack(store: Pick<Store, 'stack' | 'stacks'>, idOrName: string): Promise<Stack> {
  const byId = await store.stack(idOrName)
  if (byId) return byId
  const { stacks } = await store.stacks({ names: [idOrName] }, { limit: 20 })
  const [first, ...more] = stacks
  if (!first)
    throw new RefusedError('stack.unknown', `there is no stack "${idOrName}"`, await nearOnes(store, idOrName))
  if (more.length > 0)
    throw new RefusedError('stack.ambiguous', `${stacks.length} stacks have the name "${idOrName}"`, {
      hint: `Name one by its id: ${stacks.map(({ id }) => id).join(', ')}.`,
    })
  // A listing leaves out what was applied last.
  return (await store.stack(first.id)) ?? first
}

async function nearOnes(store: Pick<Store, 'stacks'>, name: string): Promise<{ hint: string }> {
  const { stacks } = await store.stacks({}, { limit: 100 })
  return {
    hint:
      didYouMean(
        name,
        stacks.map(stack => stack.name),
      ) ?? 'cairn stacks list shows them.',
  }
}
