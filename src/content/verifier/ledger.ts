// Remembers how each verified file looked when it was last hashed, so that a start need not hash them all. A file that is
// not in it, or looks otherwise, is hashed again; losing the ledger costs time and nothing else.

import { join } from 'node:path'
import * as z from 'zod'
import type { Files } from '../../lib/files.ts'
import { writeSmallFile } from '../process/small-file.ts'
import { readSmall } from './read-blob.ts'
import type { Tools } from './tools.ts'
import { type FileMark, sameMark } from './verified-file.ts'

/** By name in verified/. */
export type Ledger = Map<string, LedgerLine>

interface LedgerLine extends FileMark {
  /** When its bytes were last hashed. */
  readonly checkedAt: string
}

const ledgerName = 'ledger.json'
const maxLedgerSize = 64 * 2 ** 20

const ledgerSchema = z.strictObject({
  version: z.literal(1),
  files: z.record(
    z.string(),
    z.strictObject({ size: z.number(), mtimeMs: z.number(), ino: z.number(), checkedAt: z.iso.datetime() }),
  ),
})

export function readLedger(files: Files, directory: string): Ledger {
  try {
    const text = readSmall(files, join(directory, ledgerName), maxLedgerSize)?.toString('utf8') ?? ''
    return new Map(Object.entries(ledgerSchema.parse(JSON.parse(text)).files))
  } catch {
    return new Map()
  }
}

export async function writeLedger(tools: Tools, ledger: Ledger) {
  const text = `${JSON.stringify({ version: 1, files: Object.fromEntries(ledger) })}\n`
  await writeSmallFile(tools, { directory: tools.layout.verifier, name: ledgerName, text, mode: 0o600 })
}

/** The line of a file that looks as it did when it was hashed. */
export function lineOf(ledger: Ledger, name: string, mark: FileMark): LedgerLine | undefined {
  const line = ledger.get(name)
  return line && sameMark(line, mark) ? line : undefined
}
