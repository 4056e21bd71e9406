// A stack uninstalled, or all of it forgotten, and its record gone. That there is none is success.
import { RefusedError } from '../../lib/errors.ts'
import type { Running } from '../apply/running.ts'
import type { EnginePorts, StackAnswer, StackOperation, Watch } from '../engine.ts'
import { operate } from './operate.ts'

export async function deleteStack(
  ports: EnginePorts,
  running: Running,
  operation: StackOperation & { readonly keepResources?: boolean },
  watch?: Watch,
): Promise<StackAnswer | null> {
  const mode = operation.keepResources ? ({ do: 'forget', resources: 'all' } as const) : ({ do: 'uninstall' } as const)
  try {
    return await operate(ports, running, { operation, word: 'delete', mode, deletesRecord: true }, watch)
  } catch (error) {
    if (error instanceof RefusedError && error.code === 'stack.unknown') return null
    throw error
  }
}
