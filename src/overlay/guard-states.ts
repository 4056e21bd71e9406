// Keeps a collection away from states that this process is about to use. Those that the current generation leads to are
// safe already, so a run that finds everything in place registers, and writes, nothing.

import { closureOf } from './closure.ts'
import type { NodeContext } from './context.ts'
import { currentNumber, readGenerationOrNothing } from './generations.ts'
import type { StateName } from './names.ts'
import { registerTempRoots, type TempRoots } from './store/temp-roots.ts'

export interface StateGuard {
  protect(states: readonly StateName[]): Promise<void>
  release(): void
}

export function guardStates(context: NodeContext, command: string): StateGuard {
  const { files, layout } = context
  const registered: TempRoots[] = []
  let safe: Set<StateName> | undefined
  const reachable = () => {
    const { etcState } = readGenerationOrNothing(files, layout, currentNumber(files, layout))
    const closure = [...closureOf(files, layout, etcState)]
    return new Set(closure.filter(([, record]) => record).map(([state]) => state))
  }
  return {
    async protect(states) {
      safe ??= reachable()
      const exposed = states.filter(state => !safe!.has(state))
      if (exposed.length > 0) registered.push(await registerTempRoots(exposed, context, { command }))
    },
    release: () => {
      for (const roots of registered.splice(0)) roots.release()
    },
  }
}
