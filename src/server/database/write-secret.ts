// Secrets within a transaction of the store. Only sealed values and keyed fingerprints reach the database.
import type { Write } from '../../bundles/platform.ts'
import type { Secret } from '../../lib/redact.ts'
import type { Draft } from './draft.ts'

type Context = Pick<Draft, 'tx' | 'vault' | 'at'>

/** False when the same value is there already, which then stays untouched. */
export async function putSecret(
  { tx, vault, at }: Context,
  { key, value }: { readonly key: string; readonly value: Secret },
): Promise<boolean> {
  const fingerprint = vault.fingerprint(value)
  const current = await tx.selectFrom('secrets').select('fingerprint').where('key', '=', key).executeTakeFirst()
  if (current?.fingerprint === fingerprint) return false
  await upsert({ tx, at }, { key, sealed: await vault.seal(value), fingerprint })
  return true
}

export async function restoreSecret(
  { tx, vault, at }: Context,
  { key, sealed }: Extract<Write, { do: 'restore-secret' }>,
): Promise<void> {
  if (sealed === null) await tx.deleteFrom('secrets').where('key', '=', key).execute()
  else await upsert({ tx, at }, { key, sealed, fingerprint: vault.fingerprint(await vault.open(sealed)) })
}

async function upsert(
  { tx, at }: Pick<Context, 'tx' | 'at'>,
  { key, sealed, fingerprint }: { key: string; sealed: string; fingerprint: string },
) {
  await tx
    .insertInto('secrets')
    .values({ key, sealed, fingerprint, created_at: at, updated_at: at })
    .onConflict(conflict => conflict.column('key').doUpdateSet({ sealed, fingerprint, updated_at: at }))
    .execute()
}
