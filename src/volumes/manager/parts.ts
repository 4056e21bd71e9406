// The kinds of volume as they are on a real machine, around one container runtime.
import type { ManagerContext } from '../../content/process/calls.ts'
import { containerKind, openRuntime } from '../container/kind.ts'
import type { ContainerRuntime } from '../container/runtime.ts'
import { blankKind } from '../kinds/blank.ts'
import { cloudInitKind } from '../kinds/cloud-init.ts'
import { diskKind } from '../kinds/disk.ts'
import type { ManagerParts } from './manager.ts'

export function managerParts(context: ManagerContext): ManagerParts {
  let opened: Promise<ContainerRuntime> | undefined
  const runtime = () => {
    opened ??= openRuntime(context).catch(error => {
      opened = undefined
      throw error
    })
    return opened
  }
  return {
    kinds: { disk: diskKind, blank: blankKind, cloudInit: cloudInitKind, container: containerKind(runtime) },
    openRuntime: runtime,
  }
}
