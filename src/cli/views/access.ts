// Tokens, secrets and the audit log.
import { type Cell, columns } from '../../lib/columns.ts'
import { relativeTime } from '../../lib/relative-time.ts'
import type { Style } from '../../lib/style.ts'
import type { AuditEntry, Token } from '../../server/ports.ts'
import { counted } from './words.ts'

type Shown<T> = { readonly [K in keyof T]: T[K] | Extract<undefined, T[K]> }

export function printTokens(tokens: readonly Shown<Token>[], style: Style): string {
  const rows = tokens.map((token): Cell[] => [
    token.name,
    token.role === 'machine' ? `machine ${token.machine}` : token.role,
    { text: token.id, tone: 'dim' },
    relativeTime(new Date(token.createdAt), style.now),
    validityOf(token, style),
  ])
  return columns(rows, style, '').join('\n')
}

function validityOf({ expiresAt, revokedAt }: Pick<Shown<Token>, 'expiresAt' | 'revokedAt'>, style: Style): Cell {
  if (revokedAt !== undefined)
    return { text: `revoked ${relativeTime(new Date(revokedAt), style.now)}`, tone: 'failed' }
  if (expiresAt === undefined) return ''
  const isOver = new Date(expiresAt) <= style.now
  return {
    text: `${isOver ? 'expired' : 'expires'} ${relativeTime(new Date(expiresAt), style.now)}`,
    tone: isOver ? 'failed' : 'dim',
  }
}

/** The text stands alone on its line, so that it can be copied; it is not shown again. */
export const printNewToken = ({ token, text }: { token: Shown<Token>; text: string }, style: Style): string =>
  [
    text,
    '',
    style.paint(
      'dim',
      `Token ${token.name} (${token.role}), id ${token.id}. It is shown this once; only its hash is kept.`,
    ),
  ].join('\n')

export interface SecretKey {
  readonly key: string
  readonly updatedAt: string
  readonly usedBy: readonly string[]
}

export function printSecrets(secrets: readonly SecretKey[], style: Style): string {
  if (secrets.length === 0) return 'No secrets yet. cairn secret set KEY, or --secret KEY with apply.'
  const rows = secrets.map(({ key, updatedAt, usedBy }): Cell[] => [
    key,
    { text: `set ${relativeTime(new Date(updatedAt), style.now)}`, tone: 'dim' },
    usedBy.length === 0
      ? { text: 'unused', tone: 'attention' }
      : `used by ${usedBy.slice(0, 5).join(', ')}${moreThan(5, usedBy)}`,
  ])
  return columns(rows, style, '').join('\n')
}

const moreThan = (most: number, { length }: readonly string[]): string =>
  length > most ? ` and ${counted(length - most, 'more', 'more')}` : ''

export function printAudit(entries: readonly AuditEntry[], style: Style): string {
  if (entries.length === 0) return 'Nothing was changed yet.'
  const rows = entries.map(({ seq, at, who, role, action, target, status }): Cell[] => [
    { text: String(seq), tone: 'dim' },
    relativeTime(new Date(at), style.now),
    `${who} (${role})`,
    { text: String(status), tone: status < 400 ? 'done' : 'failed' },
    [action, target].filter(Boolean).join('  '),
  ])
  return columns(rows, style, '').join('\n')
}
