// Puts a verified file into containerd's content store, which hashes it again while it takes it. What is there already
// costs one call; what an earlier try has begun goes on where that ended.
import { constants } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { type CallOptions, Code } from '@connectrpc/connect'
import type { Sha256 } from '../../../content/messages.ts'
import { withFile } from '../../kinds/handle.ts'
import { type Containerd, noTimeout, unless } from './connection.ts'
import { WriteAction } from './generated/services/content/v1/content_pb.js'

export interface Ingest {
  readonly sha256: Sha256
  readonly path: string
  readonly lease: CallOptions
  readonly signal: AbortSignal
}

const blockSize = 1024 * 1024

export const digestOf = (sha256: string): string => `sha256:${sha256}`

export async function ingest(containerd: Containerd, wanted: Ingest): Promise<void> {
  await withFile(wanted.path, constants.O_RDONLY, file => write(containerd, wanted, file))
}

async function write({ content }: Containerd, { sha256, lease, signal }: Ingest, file: FileHandle) {
  const total = BigInt((await file.stat()).size)
  const common = { ref: `cairn-${sha256}`, total, expected: digestOf(sha256) }
  const begun = Promise.withResolvers<bigint>()
  begun.promise.catch(() => {})

  // The file is closed outside: a call that ends early leaves this where it stands.
  const requests = async function* () {
    yield { ...common, action: WriteAction.STAT }
    let offset = await begun.promise
    const block = Buffer.allocUnsafe(blockSize)
    for (;;) {
      signal.throwIfAborted()
      const { bytesRead } = await file.read(block, 0, block.length, Number(offset))
      if (bytesRead === 0) break
      yield { action: WriteAction.WRITE, ref: common.ref, offset, data: block.subarray(0, bytesRead) }
      offset += BigInt(bytesRead)
    }
    yield { ...common, action: WriteAction.COMMIT, offset }
  }
  const written = async () => {
    const options = { ...lease, ...noTimeout, signal }
    for await (const { action, offset } of content.write(requests(), options))
      if (action === WriteAction.STAT) begun.resolve(offset)
  }
  try {
    await unless(Code.AlreadyExists, written())
  } finally {
    begun.reject(new Error('the call has ended'))
  }
}

/** What a blob refers to must stay as long as it does; containerd reads that from its labels. */
export async function label({ content }: Containerd, sha256: Sha256, labels: Record<string, string>): Promise<void> {
  const paths = Object.keys(labels).map(key => `labels.${key}`)
  await content.update({ info: { digest: digestOf(sha256), labels }, updateMask: { paths } })
}

export async function readContent({ content }: Containerd, sha256: Sha256): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  for await (const { data } of content.read({ digest: digestOf(sha256) })) chunks.push(data)
  return Buffer.concat(chunks)
}
