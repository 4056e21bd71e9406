// What an error of PostgreSQL means to whoever asked.
import { DatabaseError } from 'pg'
import { CairnError, messageOf } from '../../lib/errors.ts'
import { redact } from '../../lib/redact.ts'

/** A unique index is looked at before it is written to, so hitting it also means that another came in between. */
export function metAnother(error: unknown): boolean {
  return error instanceof DatabaseError && ['40001', '40P01', '23505'].includes(error.code ?? '')
}

const connectionCodes = /^(08|57P|53300|ECONN|ETIMEDOUT|EPIPE|ENOTFOUND|ENOENT|EHOSTUNREACH|ENETUNREACH|EAI_AGAIN)/

/** Throws `database.unavailable` for a connection that cannot be had or was lost, and anything else as it is. */
export function rethrow(error: unknown): never {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const isLost =
    connectionCodes.test(code) || (!(error instanceof DatabaseError) && /connection|timeout/i.test(messageOf(error)))
  if (!isLost) throw error
  throw new CairnError('database.unavailable', `the database does not answer: ${redact(messageOf(error) || code)}`, {
    hint: 'Cairn goes on as soon as it does.',
    cause: error,
  })
}
