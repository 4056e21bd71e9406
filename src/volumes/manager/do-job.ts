// Carries out one job of the switchboard with the kind of volume, or the runtime, that it is for.
import { join } from 'node:path'
import type { ManagerContext } from '../../content/process/calls.ts'
import { unreachable } from '../../lib/errors.ts'
import type { VolumeKind } from '../kinds/kind.ts'
import type { Job, Made, VolumeWhat } from '../switchboard/protocol.ts'
import type { RuntimeSlot } from './runtime-slot.ts'

export interface VolumeKinds {
  readonly disk: VolumeKind
  readonly blank: VolumeKind
  readonly cloudInit: VolumeKind
  readonly container: VolumeKind
}

export interface JobTools {
  readonly context: ManagerContext
  readonly kinds: VolumeKinds
  readonly runtime: RuntimeSlot
}

export async function doJob(
  job: Job,
  { context, kinds, runtime }: JobTools,
  signal: AbortSignal,
): Promise<Partial<Made>> {
  switch (job.do) {
    case 'create': {
      const { config, content, name } = job
      const target = join(context.layout.volumes, name)
      return kindFor(kinds, config).create({ config, target, signal, ...(content && { content }) }, context)
    }
    case 'grow':
      return kindFor(kinds, job.config).grow({ config: job.config, target: job.path, signal }, context)
    case 'destroy':
      await kindFor(kinds, job.what).destroy(job.path, context)
      return {}
    case 'attach':
      await runtime.use(one => one.attach(job.path))
      return {}
    case 'load':
      await runtime.use(one => one.load({ name: job.name, content: job.content, signal }))
      return {}
    case 'unload':
      await runtime.use(one => one.unload(job.name))
      return {}
    default:
      return unreachable(job)
  }
}

function kindFor(kinds: VolumeKinds, { origin, kind }: VolumeWhat): VolumeKind {
  if (origin === 'blank') return kinds.blank
  if (origin === 'cloud-init') return kinds.cloudInit
  return kind === 'container' ? kinds.container : kinds.disk
}
