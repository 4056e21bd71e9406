// Answers what a process asks of its supervisor. Who asks is known from the channel, and with it which directories are its own.
import { CairnError } from '../../lib/errors.ts'
import type { ContentLayout } from '../layout.ts'
import type { ProcessName } from '../messages.ts'
import { type CallAnswer, type CallArgs, type CallName, callSchemas } from '../process/supervisor-calls.ts'
import { issuesOf } from '../pubsub/wire.ts'
import { ownDirectories } from './plan-command.ts'
import { syncNames } from './sync-names.ts'
import { flushFileSystem, makeFileSystem, makeLinks, mountAll, unmountAll } from './volume-calls.ts'

type Handlers = { readonly [Name in CallName]: (args: CallArgs<Name>) => Promise<CallAnswer<Name>> }

/** What depends on the life of the process. */
export type LifeCalls = Pick<Handlers, 'begin'>

export function answerCalls(process: ProcessName, layout: ContentLayout, life: LifeCalls) {
  const own = ownDirectories(process, layout)
  const { volumes } = layout
  const handlers: Handlers = {
    ...life,
    sync: args => syncNames(own, args),
    mkfs: args => makeFileSystem(volumes, args),
    mount: args => mountAll(volumes, args),
    unmount: args => unmountAll(volumes, args),
    symlink: args => makeLinks(volumes, args),
    syncFileSystem: args => flushFileSystem(own, args),
  }
  return async (name: string, args: unknown): Promise<unknown> => {
    if (!isCall(name) || !mayCall(process, name))
      throw new CairnError('call.refused', `the ${process} may not ask for ${JSON.stringify(name)}`)
    const checked = callSchemas[name].args.safeParse(args)
    if (!checked.success) throw new CairnError('call.refused', `${name}: ${issuesOf(checked.error)}`)
    return (handlers[name] as (args: unknown) => Promise<unknown>)(checked.data)
  }
}

const isCall = (name: string): name is CallName => Object.hasOwn(callSchemas, name)
const mayCall = (process: ProcessName, name: CallName) => process === 'manager' || name === 'begin' || name === 'sync'
