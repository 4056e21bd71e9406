// The door without the processes behind it: one file from loopback or from this disk, hashed, in a directory of its own.
// Tries nothing twice. Shows whoever uses the door what it gives and how it fails; the real one is tested with its rooms.
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { get, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { messageOf } from '../lib/errors.ts'
import { ContentFailure } from './ask.ts'
import type { ContentDoor } from './door.ts'
import type { ContentRef, Sha256 } from './messages.ts'

export interface FakeDoor extends ContentDoor {
  /** Blobs that nobody has released yet. */
  readonly held: number
}

export function fakeDoor(): FakeDoor {
  let held = 0
  return {
    get held() {
      return held
    },
    async fetch({ scope, ref, signal }) {
      const bytes = await bytesOf(ref, signal)
      const sha256 = createHash('sha256').update(bytes).digest('hex') as Sha256
      if (ref.sha256 && ref.sha256 !== sha256)
        throw new ContentFailure('content.digest-mismatch', `${ref.name}: wanted ${ref.sha256}, got ${sha256}`)
      const directory = mkdtempSync(join(tmpdir(), 'cairn-door-'))
      const path = join(directory, sha256)
      writeFileSync(path, bytes)
      held++
      const size = bytes.length
      const blob = { sha256, role: 'blob', state: 'verified', size, currentSize: size, path } as const
      return {
        status: {
          scope,
          id: sha256,
          name: ref.name,
          state: 'verified',
          sha256,
          blobs: [blob],
          totalSize: size,
          currentSize: size,
          waitingForCerts: false,
        },
        release() {
          held--
          rmSync(directory, { recursive: true, force: true })
        },
      }
    },
  }
}

async function bytesOf({ sources }: ContentRef, signal: AbortSignal): Promise<Buffer> {
  const [source] = sources
  if (source?.kind === 'file') return readFileSync(source.path)
  if (source?.kind !== 'url') throw new ContentFailure('source.unreachable', 'the fake door has no registry')
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  get(source.url, { signal }, resolve).on('error', reject)
  try {
    const answer = await promise
    if (answer.statusCode !== 200) throw new ContentFailure('source.rejected', `HTTP ${answer.statusCode}`)
    return Buffer.concat(await answer.toArray())
  } catch (error) {
    if (signal.aborted) throw signal.reason
    if (error instanceof ContentFailure) throw error
    throw new ContentFailure('source.truncated', messageOf(error))
  }
}
