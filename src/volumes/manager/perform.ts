// Does what the switchboard says, in its order. Writes to one small file come one after the other; a failure of any of them
// is told to the switchboard or logged, and ends nothing.

import { removeIfThere } from '../../lib/durable.ts'
import { unreachable } from '../../lib/errors.ts'
import { formatVolumeRecord, recordPath } from '../names.ts'
import type { Effect, Failure, SwitchboardEvent } from '../switchboard/protocol.ts'
import { doJob, type JobTools } from './do-job.ts'
import { failureOf, type Jobs } from './jobs.ts'
import { readVerified } from './read-verified.ts'
import type { Store } from './store.ts'

type Untimed<Event> = Event extends SwitchboardEvent ? Omit<Event, 'now'> : never
export type News = Untimed<SwitchboardEvent>

export interface PerformTools extends JobTools {
  readonly jobs: Jobs
  readonly store: Store
  readonly tell: (news: News) => void
  readonly look: () => void
  readonly wakeAt: (monotonic: number) => void
}

export type Perform = (effect: Effect) => void

export function performer(tools: PerformTools): Perform {
  const { context, jobs, store, tell, look, wakeAt } = tools
  const { peer, layout, files, log } = context
  const lines = new Map<string, Promise<void>>()

  /** After what is under way for the same file. */
  const inLine = (file: string, work: () => Promise<void> | void, failed?: (error: unknown) => void) => {
    const before = lines.get(file) ?? Promise.resolve()
    const next = before
      .then(work)
      .catch(failed ?? (error => log(`${file} could not be changed: ${failureOf(error).text}`)))
      .then(() => {
        if (lines.get(file) === next) lines.delete(file)
      })
    lines.set(file, next)
  }

  return effect => {
    switch (effect.do) {
      case 'publish':
        return peer.publish(effect.topic, effect.key, effect.value)
      case 'retract':
        return peer.retract(effect.topic, effect.key)
      case 'complete':
        for (const topic of effect.topics) peer.complete(topic)
        return
      case 'latch': {
        const { key, latch } = effect
        const done = () => tell({ on: 'latched', key, outcome: { ok: true } })
        return inLine(
          `latch ${key}`,
          () => store.writeLatch(key, latch).then(done),
          error => tell({ on: 'latched', key, outcome: { ok: false, failure: latchFailure(error) } }),
        )
      }
      case 'unlatch':
        return inLine(`latch ${effect.key}`, () => store.forgetLatch(effect.key))
      case 'read manifest':
        return void setImmediate(() =>
          tell({ on: 'manifest', sha256: effect.sha256, read: readVerified(context, effect) }),
        )
      case 'create':
      case 'grow':
      case 'attach':
      case 'destroy':
      case 'unload':
        return jobs.start(effect.job, signal => doJob(effect, tools, signal))
      case 'load':
        // What the runtime is given is noted first.
        return jobs.start(effect.job, async signal => {
          await lines.get(`loaded ${effect.name}`)
          return doJob(effect, tools, signal)
        })
      case 'cancel':
        return jobs.cancel(effect.job)
      case 'write record': {
        const { name, record } = effect
        return inLine(`record ${name}`, () => store.writeRecord(name, formatVolumeRecord(record)))
      }
      case 'forget record':
        return inLine(`record ${effect.name}`, () => removeIfThere(files, recordPath(layout.volumes, effect.name)))
      case 'defer delete':
        return inLine(`deferred ${effect.sha256}`, () => store.writeDeferred(effect.sha256, effect.due))
      case 'forget delete':
        return inLine(`deferred ${effect.sha256}`, () => store.forgetDeferred(effect.sha256))
      case 'note loaded':
        return inLine(`loaded ${effect.name}`, () => store.writeLoaded(effect.name))
      case 'forget loaded':
        return inLine(`loaded ${effect.name}`, () => store.forgetLoaded(effect.name))
      case 'note gc start':
        return inLine('gc', () => store.writeGcStart(effect.monotonic))
      case 'measure':
        return look()
      case 'wake':
        return wakeAt(effect.at)
      default:
        return unreachable(effect)
    }
  }
}

function latchFailure(error: unknown): Failure {
  const { code, text } = failureOf(error)
  return {
    code: code === 'content.no-space' ? code : 'content.latch-failed',
    text: `the digest cannot be written down: ${text}`,
  }
}
