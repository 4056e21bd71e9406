// rpm: a lead, two headers that are skipped, and a compressed cpio archive.
import type { ByteReader } from './bytes.ts'
import { badFormat } from './refusals.ts'

const leadSize = 96
const mostIndexEntries = 1_000_000
const mostHeaderBytes = 256 * 2 ** 20

/** Moves on to the payload. */
export async function skipRpmHeaders(reader: ByteReader) {
  const lead = await reader.take(leadSize)
  if (lead.readUInt32BE(0) !== 0xedabeedb) throw badFormat('it is not an rpm package')
  const signatureSize = await skipHeader(reader)
  await reader.skip((8 - (signatureSize % 8)) % 8)
  await skipHeader(reader)
}

async function skipHeader(reader: ByteReader): Promise<number> {
  const start = await reader.take(16)
  if (start.readUInt32BE(0) !== 0x8eade801)
    throw badFormat('the rpm package is damaged: a header is not where it should be')
  const entries = start.readUInt32BE(8)
  const bytes = start.readUInt32BE(12)
  if (entries > mostIndexEntries || bytes > mostHeaderBytes)
    throw badFormat('the rpm package is damaged: a header is too long')
  await reader.skip(entries * 16 + bytes)
  return 16 + entries * 16 + bytes
}
