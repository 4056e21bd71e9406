// One life of a process, from its channel's opening to its end: its calls are answered, its heartbeat is watched.
import type { Clock } from '../../lib/clock.ts'
import { CairnError } from '../../lib/errors.ts'
import type { ContentLayout } from '../layout.ts'
import type { ProcessName } from '../messages.ts'
import { heartbeatMs } from '../process/run-process.ts'
import type { CallArgs } from '../process/supervisor-calls.ts'
import type { Hub } from '../pubsub/hub.ts'
import type { Link } from '../pubsub/link.ts'
import { answerCalls } from './answer-calls.ts'

export interface LifeOptions {
  readonly name: ProcessName
  readonly layout: ContentLayout
  readonly insecure: boolean
  /** Of the user that only the downloader runs as; undefined without one. */
  readonly downloaderUid: number | undefined
  readonly hub: Hub
  readonly clock: Clock
  readonly log: (line: string) => void
  /** It has begun, and says how its self-check ended. Starts count from 1. */
  readonly onBegin: (report: CallArgs<'begin'>, starts: number) => void
}

export interface LifeEvents {
  /** Three heartbeats were missed. */
  onHung(): void
  onClose?(): void
}

const missedBeats = 3
/** Before its first sign of life a process may have to wait for a busy machine. */
const missedAtStart = 12

/** Returns what ends the watch. */
export function openLife(link: Link, starts: number, options: LifeOptions, events: LifeEvents): () => void {
  const { name, layout, insecure, downloaderUid, hub, clock, log, onBegin } = options
  let signs = 0
  let begun = false
  const answer = answerCalls(name, layout, {
    begin: async report => {
      // Believed only now: it has not yet seen a byte of anybody's.
      if (begun) throw new CairnError('call.refused', `the ${name} has begun already`)
      begun = true
      onBegin(report, starts)
      return { layout, insecure, ...(downloaderUid !== undefined && { downloaderUid }) }
    },
  })
  const ended = new AbortController()
  hub.accept(link, {
    role: name,
    onCall: (call, args) => {
      signs++
      return answer(call, args)
    },
    onBeat: () => signs++,
    onClose: fault => {
      if (fault) log(`the channel of the ${name} was closed: ${fault.code}: ${fault.text}`)
      events.onClose?.()
    },
  })
  const watch = async () => {
    let allowed = missedAtStart
    for (let missed = 0; missed < allowed; ) {
      await clock.sleep(heartbeatMs, ended.signal)
      missed = signs > 0 ? 0 : missed + 1
      if (signs > 0) allowed = missedBeats
      signs = 0
    }
    log(`the ${name} has missed its heartbeats and is ended`)
    events.onHung()
  }
  watch().catch(() => {})
  return () => ended.abort()
}
