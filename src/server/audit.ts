// The audit log: who asked for which change, and how it ended. Written for every route that changes something, refused
// ones too; what was in the body never is.
import type { Clock } from '../lib/clock.ts'
import { messageOf } from '../lib/errors.ts'
import type { Json } from '../lib/json.ts'
import { redact } from '../lib/redact.ts'
import type { Route } from './contract/route.ts'
import type { Audit, Token } from './ports.ts'

/** What a handler says of its work beyond the route. */
export interface AuditNote {
  target?: string
  detail: Record<string, Json>
}

export interface AuditLog {
  /** Never rejects: the change is made by now, and whoever asked for it is told so. */
  write(entry: {
    readonly route: Route
    readonly who: Token
    readonly params: Readonly<Record<string, string>>
    readonly note: AuditNote
    readonly status: number
    readonly requestId: string
  }): Promise<void>
}

export function createAuditLog({
  audit,
  clock,
  failed,
}: {
  readonly audit: Audit
  readonly clock: Clock
  failed(text: string): void
}): AuditLog {
  return {
    write: async ({ route, who, params, note, status, requestId }) => {
      if (!route.changes) return
      try {
        await audit.add({
          at: clock.now().toISOString(),
          who: who.name,
          role: who.role,
          action: `${route.method} ${route.path}`,
          target: clean(note.target ?? Object.values(params).join('/')),
          status,
          detail: { ...note.detail, token: who.id, request: requestId },
        })
      } catch (error) {
        failed(redact(messageOf(error)))
      }
    },
  }
}

/** It comes from the path, so it can be anything. */
const clean = (target: string): string => target.replaceAll('\0', '').toWellFormed().slice(0, 500)
