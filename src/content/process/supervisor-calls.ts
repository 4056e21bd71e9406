// The calls of a walled-in process as messages, told once for the side that asks and the side that answers.
import * as z from 'zod'
import type { ContentLayout } from '../layout.ts'
import { processNames } from '../messages.ts'
import type { HubPeer } from '../pubsub/create-peer.ts'

const path = z.string().min(1).max(4096).startsWith('/')
const nothing = z.void()

/** So that a message stays well below its largest size. */
export const linksPerCall = 1000
export const namesPerCall = 1000

export const callSchemas = {
  /** The first call of every process: how its tries to connect ended. */
  begin: {
    args: z.strictObject({
      process: z.enum(processNames),
      pid: z.int().positive(),
      permission: z.boolean(),
      checked: z.boolean(),
      proof: z.array(z.string().max(64)).max(8),
    }),
    answer: z.strictObject({
      layout: z.custom<ContentLayout>(isObject),
      insecure: z.boolean(),
      /** Of the user that only the downloader runs as. */
      downloaderUid: z.int().nonnegative().optional(),
    }),
  },
  sync: {
    args: z.strictObject({ directory: path, names: z.array(z.string().min(1).max(255)).max(namesPerCall) }),
    answer: nothing,
  },
  mkfs: { args: z.strictObject({ path, type: z.enum(['ext4', 'xfs', 'vfat']) }), answer: nothing },
  mount: {
    args: z.strictObject({
      mounts: z
        .array(
          z.strictObject({
            type: z.string().max(64),
            source: z.string().max(4096),
            options: z.array(z.string().max(64 * 1024)).max(64),
          }),
        )
        .min(1)
        .max(8),
      target: path,
    }),
    answer: nothing,
  },
  unmount: { args: z.strictObject({ target: path }), answer: nothing },
  symlink: {
    args: z.strictObject({
      links: z.array(z.strictObject({ path, text: z.string().min(1).max(4096) })).max(linksPerCall),
    }),
    answer: nothing,
  },
  syncFileSystem: { args: z.strictObject({ path }), answer: nothing },
} as const

export type CallName = keyof typeof callSchemas
export type CallArgs<Name extends CallName> = z.infer<(typeof callSchemas)[Name]['args']>
export type CallAnswer<Name extends CallName> = z.infer<(typeof callSchemas)[Name]['answer']>

export type AskSupervisor = <Name extends CallName>(name: Name, args: CallArgs<Name>) => Promise<CallAnswer<Name>>

export const askSupervisor =
  (peer: HubPeer): AskSupervisor =>
  async (name, args) =>
    callSchemas[name].answer.parse(await peer.call(name, args)) as CallAnswer<typeof name>

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}
