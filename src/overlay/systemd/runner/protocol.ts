// What client.ts and server.ts say to each other: one JSON value a line, an answer for each request, in any order.
// Both ends are the same user's (the socket is in a directory of mode 0700), yet every request is checked.
import * as z from 'zod'
import type { UnitName } from '../../names.ts'
import { isLoadable } from '../status.ts'

/** Names that no manager would load are answered by the port itself, so here they only have to be short and on one line. */
const unit = z
  .string()
  .max(300)
  .regex(/^[^/\0\n]+$/)
  .transform(name => name as UnitName)
const units = z.array(unit).max(10_000)
const id = z.number().int().nonnegative()
const ms = z.number().nonnegative()

const timerName = z.string().refine(name => isLoadable(`${name}.timer` as UnitName), 'not the name of a timer')

export const requestSchema = z.discriminatedUnion('call', [
  z.strictObject({ id, call: z.literal('show'), units }),
  z.strictObject({ id, call: z.literal('active') }),
  z.strictObject({ id, call: z.literal('daemonReload') }),
  z.strictObject({ id, call: z.literal('resetFailed'), units }),
  z.strictObject({
    id,
    call: z.literal('run'),
    jobs: z
      .array(z.strictObject({ do: z.enum(['start', 'stop', 'restart', 'reload']), unit, timeoutMs: ms }))
      .max(10_000),
  }),
  z.strictObject({
    id,
    call: z.literal('runLater'),
    unit: timerName,
    afterMs: ms,
    command: z.array(z.string()).min(1).max(1_000),
  }),
  z.strictObject({ id, call: z.literal('cancelLater'), unit: timerName }),
  z.strictObject({ id, call: z.literal('lastLines'), unit, count: z.number().int().min(0).max(10_000) }),
])

export type Request = z.infer<typeof requestSchema>

/** A request without its number. */
export type Call = Request extends infer R ? (R extends Request ? Omit<R, 'id'> : never) : never

export type Reply =
  | { readonly id: number; readonly result: unknown }
  /** The number is null when the request had none that could be read. */
  | { readonly id: number | null; readonly error: string }
