// Stacks: what bundles made, and what can be done with them as a whole.

import type { Confirmation } from '../../bundles/model/plan.ts'
import type { Stack } from '../../bundles/model/stack.ts'
import type { Platform } from '../../bundles/platform.ts'
import { parseDuration } from '../../lib/duration.ts'
import { defined } from './defined.ts'
import { etag, type HandlerPorts, type Handlers } from './handler.ts'
import { assertOutcome } from './outcome.ts'

type StackRoutes =
  | 'listStacks'
  | 'createStack'
  | 'getStack'
  | 'patchStack'
  | 'deleteStack'
  | 'uninstallStack'
  | 'importIntoStack'
  | 'forgetInStack'
  | 'refreshStack'
  | 'unlockStack'
  | 'cancelStack'
  | 'stackEvents'

export function stackHandlers({ engine, database, underway }: HandlerPorts): Pick<Handlers, StackRoutes> {
  return {
    listStacks: async ({ query }) => {
      const { name: names, id: ids, limit, cursor } = query
      const { stacks, next } = await engine.stacks(defined({ names, ids }), defined({ limit, cursor }))
      return { body: { stacks: stacks as Stack[], ...(next !== undefined && { next }) } }
    },
    createStack: async ({ body, who, note }) => {
      const stack = await engine.createStack({ ...defined(body), name: body.name, by: who.name })
      note(stack.id, { name: stack.name })
      return { status: 201, headers: { location: `/api/v1/stacks/${stack.id}`, ...etag(stack.revision) }, body: stack }
    },
    getStack: async ({ params }) => {
      const stack = await engine.stack(params.id)
      const [lock, live] = await Promise.all([engine.lock(stack.id), liveOf(database.platform, stack)])
      return { headers: etag(stack.revision), body: { ...stack, lock, live } }
    },
    patchStack: async ({ params, body, who, ifRevision, note }) => {
      const stack = await engine.updateStack(params.id, defined(body), { by: who.name, ...defined({ ifRevision }) })
      note(stack.id, { fields: Object.keys(body) })
      return { headers: etag(stack.revision), body: stack }
    },
    deleteStack: async call => {
      const { keepResources, confirm, lockWait } = call.query
      const operation = operationOf(call, { confirm: confirm ?? [], ...defined({ lockWait }) })
      const answer = await underway.run(signal =>
        engine.deleteStack({ ...operation, ...defined({ keepResources }) }, { signal }),
      )
      if (answer) assertOutcome(answer.outcome, answer)
      call.note(answer?.stack.id ?? call.params.id, { found: answer !== null, ...defined({ keepResources }) })
      return { status: 204, body: undefined }
    },
    uninstallStack: async call => {
      const answer = await underway.run(signal => engine.uninstall(operationOf(call, call.body), { signal }))
      return settled(call, answer)
    },
    importIntoStack: async call => {
      const resources = call.body.resources.map(defined)
      const answer = await underway.run(() => engine.import({ ...operationOf(call, call.body), resources }))
      return settled(call, answer) as never
    },
    forgetInStack: async call => {
      const resources = call.body.resources.map(defined)
      const answer = await underway.run(() => engine.forget({ ...operationOf(call, call.body), resources }))
      return settled(call, answer)
    },
    refreshStack: async call => {
      const { accept } = call.body
      const answer = await underway.run(() =>
        engine.refresh({ ...operationOf(call, call.body), ...defined({ accept }) }),
      )
      return settled(call, answer)
    },
    unlockStack: async ({ params, who, note }) => {
      const was = await engine.unlock(params.id, who.name)
      note(params.id, { holder: was?.holder ?? null })
      return { body: { was } }
    },
    cancelStack: async ({ params, note }) => {
      const cancelled = await engine.cancel(params.id)
      note(params.id, { cancelled })
      return { body: { cancelled } }
    },
    stackEvents: async ({ params, query }) => {
      const events = await engine.history(params.id, defined(query))
      return { body: { events: [...events] } }
    },
  }
}

interface OperationCall {
  readonly params: { readonly id: string }
  readonly who: { readonly name: string }
  readonly ifRevision?: number
}

function operationOf(
  { params, who, ifRevision }: OperationCall,
  options: {
    readonly confirm: readonly Confirmation[]
    readonly lockWait?: string | undefined
    readonly planOnly?: boolean | undefined
  },
) {
  return {
    stack: params.id,
    by: who.name,
    confirm: options.confirm,
    lockWaitMs: options.lockWait === undefined ? 0 : parseDuration(options.lockWait, 'lockWait'),
    ...defined({ planOnly: options.planOnly, ifRevision }),
  }
}

function settled<Answer extends { stack: Stack; outcome: Parameters<typeof assertOutcome>[0] }>(
  call: { note(target: string, detail: Record<string, string>): void },
  answer: Answer,
) {
  call.note(answer.stack.id, { outcome: answer.outcome.did })
  assertOutcome(answer.outcome, answer)
  return { headers: etag(answer.stack.revision), body: answer as Answer & { outcome: never } }
}

async function liveOf(platform: Platform, stack: Stack) {
  const found = await platform.read(stack.resources)
  return stack.resources.map(({ kind, name, id }) => {
    const live = found.get(id)
    if (!live) return { kind, name, displayName: null, state: 'gone' as const, status: null }
    if ('unreadable' in live) return { kind, name, displayName: null, state: 'unreadable' as const, status: null }
    return { kind, name, displayName: live.displayName, state: 'live' as const, status: live.status as never }
  })
}
