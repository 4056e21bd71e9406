// deb: an ar archive in which data.tar, compressed or not, holds the files. Maintainer scripts are neither read nor run.
import type { ByteReader } from './bytes.ts'
import { badFormat } from './refusals.ts'

const magic = '!<arch>\n'
const headerSize = 60

/** The bytes of data.tar, as compressed as they are. */
export async function* debData(reader: ByteReader): AsyncGenerator<Buffer> {
  if ((await reader.take(magic.length)).toString('latin1') !== magic) throw badFormat('it is not a deb package')
  const first = await readMember(reader)
  if (first.name !== 'debian-binary') throw badFormat('it is not a deb package: debian-binary does not come first')
  const version = (await reader.take(first.size)).toString('latin1')
  if (!version.startsWith('2.')) throw badFormat(`the deb package is of version ${version.trim()}, not 2`)
  await reader.skip(first.size % 2)
  for (;;) {
    const { name, size } = await readMember(reader)
    if (/^data\.tar(\.|$)/.test(name)) return yield* reader.chunks(size)
    await reader.skip(size + (size % 2))
  }
}

async function readMember(reader: ByteReader): Promise<{ name: string; size: number }> {
  const header = (await reader.take(headerSize)).toString('latin1')
  const size = Number(header.slice(48, 58).trim())
  if (!header.endsWith('`\n') || !Number.isSafeInteger(size)) throw badFormat('the deb package is damaged')
  return { name: header.slice(0, 16).trim().replace(/\/$/, ''), size }
}
