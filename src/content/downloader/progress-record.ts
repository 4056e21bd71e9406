// The record beside a pending file: up to where its bytes are safe, and how to go on from there. It names no place, so it
// holds no secret. A record that is torn, foreign or of another version is none.
import * as z from 'zod'
import { canonicalJson, sha256Hex } from '../../lib/json.ts'
import { sha256Schema } from '../messages.ts'

const size = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER)

export const longestValidator = 1000

const fieldsSchema = z.strictObject({
  version: z.literal(1),
  /** Of the config for which it was fetched; bytes of an earlier one are not gone on with. */
  attempt: size,
  /** Bytes before it were on disk when the record was written. */
  offset: size,
  /** Of the whole; null when it is not known. */
  size: size.nullable(),
  /** Of the object that the bytes are from, where no digest names it. */
  validator: z.string().max(longestValidator).nullable(),
  /** Nothing is missing. The bytes may not have survived a power cut; the verifier sees that. */
  complete: z.boolean(),
  /** Of a complete file whose digest nobody knew before. */
  sha256: sha256Schema.optional(),
})
const recordSchema = fieldsSchema.extend({ hash: z.string() })

export type ProgressRecord = Omit<z.infer<typeof fieldsSchema>, 'version'>

export function formatRecord(record: ProgressRecord): string {
  const fields = { ...record, version: 1 as const }
  return `${canonicalJson({ ...fields, hash: sha256Hex(canonicalJson(fields)) })}\n`
}

export function parseRecord(text: string): ProgressRecord | null {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    return null
  }
  const parsed = recordSchema.safeParse(json)
  if (!parsed.success) return null
  const { hash, ...fields } = parsed.data
  if (hash !== sha256Hex(canonicalJson(fields))) return null
  const { version: _, ...record } = fields
  return record
}
