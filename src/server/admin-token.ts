// The first token. Whoever can read the file is the administrator of this server; the command line finds it there.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '../lib/clock.ts'
import { writeDurably } from '../lib/durable.ts'
import { isErrno } from '../lib/errors.ts'
import { realFiles } from '../lib/files.ts'
import { makeId } from '../lib/id.ts'
import type { Database } from './ports.ts'
import { hashesAgree, makeToken, parseToken } from './tokens.ts'

/** Keeps the file when the token in it still counts, else makes a new one. Gives its path. */
export async function ensureAdminToken({
  database,
  dataDirectory,
  clock,
}: {
  readonly database: Pick<Database, 'tokens'>
  readonly dataDirectory: string
  readonly clock: Clock
}): Promise<string> {
  const file = join(dataDirectory, 'admin.token')
  const now = clock.now()
  if (await counts(database, textIn(file), now)) return file
  const id = makeId(now)
  const { text, hash } = makeToken(id)
  // The file first: a token that is stored and that nobody has would stay in the list for ever.
  writeDurably(realFiles, file, `${text.reveal()}\n`, { mode: 0o600 })
  await database.tokens.add({ id, name: 'local', role: 'admin', createdAt: now.toISOString() }, hash)
  return file
}

function textIn(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return ''
    throw error
  }
}

async function counts({ tokens }: Pick<Database, 'tokens'>, text: string, now: Date): Promise<boolean> {
  const given = parseToken(text)
  const found = given && (await tokens.find(given.id))
  if (!given || !found || !hashesAgree(given.hash, found.hash)) return false
  const { role, revokedAt, expiresAt } = found.token
  return (
    role === 'admin' && revokedAt === undefined && (expiresAt === undefined || Date.parse(expiresAt) > now.getTime())
  )
}
