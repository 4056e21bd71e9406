// A verifier on real directories: pending/ is the test's to fill, syncing is real, and the other processes are the test.
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Clock, realClock } from '../../lib/clock.ts'
import { syncDirectory, syncFile } from '../../lib/durable.ts'
import { type Files, realFiles } from '../../lib/files.ts'
import { sha256Hex } from '../../lib/json.ts'
import { type ContentLayout, contentLayoutOf } from '../layout.ts'
import type { Sha256, VerifyConfig } from '../messages.ts'
import type { Durability, ProcessContext } from '../process/context.ts'
import type { Message } from '../topics.ts'
import { type FakePeer, fakePeer } from './peer.fake.ts'
import type { JudgeSignature } from './signatures.ts'
import { startVerifier, type VerifierOptions } from './verifier.ts'

export interface Bench {
  readonly layout: ContentLayout
  readonly log: string[]
  /** Puts bytes into pending/ and returns a config that asks for them. */
  download(bytes: Uint8Array, change?: Partial<VerifyConfig>): { sha256: Sha256; config: VerifyConfig }
  /** Puts a file into verified/, whatever its bytes are. */
  place(name: string, bytes: Uint8Array): string
  /** Each name in verified/ with the digest of its bytes. */
  verified(): Record<string, string>
  /** Names in a directory, in order. */
  names(directory: string): string[]
  context(change?: Partial<ProcessContext>): ProcessContext & { readonly peer: FakePeer }
  start(change?: StartOptions): RunningVerifier
  remove(): Promise<void>
}

export interface StartOptions extends VerifierOptions {
  readonly peer?: FakePeer
  readonly files?: Files
  readonly durability?: Durability
  readonly clock?: Clock
  readonly judge?: JudgeSignature
}

export interface RunningVerifier {
  readonly peer: FakePeer
  /** Settles when the verifier does. */
  readonly ended: Promise<void>
  stop(): Promise<void>
  /** The status of a blob once it is so. */
  status(sha256: Sha256, is: (status: Message<'verifyStatus'>) => boolean): Promise<Message<'verifyStatus'>>
}

export const octets = 'application/octet-stream'
export const shaOf = (bytes: Uint8Array): Sha256 => sha256Hex(bytes) as Sha256
export const syncingWith = (files: Files): Durability => ({
  sync: async (directory, names) => {
    for (const name of names) syncFile(files, join(directory, name))
    syncDirectory(files, directory)
  },
})

const nobodySigned: JudgeSignature = () => ({ verdict: 'unsigned' })

export function bench(): Bench {
  const root = fs.mkdtempSync(join(tmpdir(), 'cairn-verifier-'))
  const layout = contentLayoutOf({ base: root, run: join(root, 'run') })
  for (const directory of [layout.pending, layout.trust, layout.verified]) fs.mkdirSync(directory, { recursive: true })
  const log: string[] = []
  const running: RunningVerifier[] = []
  let downloads = 0

  const context = (change: Partial<ProcessContext> = {}) => ({
    layout,
    files: realFiles,
    durability: syncingWith(change.files ?? realFiles),
    clock: realClock,
    random: Math.random,
    log: (line: string) => void log.push(line),
    signal: new AbortController().signal,
    ...change,
    peer: (change.peer as FakePeer | undefined) ?? fakePeer(),
  })

  return {
    layout,
    log,
    context,
    download(bytes, change = {}) {
      const path = join(layout.pending, `download-${++downloads}`)
      fs.writeFileSync(path, bytes)
      const config = { path, mediaType: octets, size: bytes.length, refs: 1, expired: false, attempt: 0, ...change }
      return { sha256: shaOf(bytes), config }
    },
    place(name, bytes) {
      const path = join(layout.verified, name)
      fs.writeFileSync(path, bytes, { mode: 0o400 })
      return path
    },
    verified: () =>
      Object.fromEntries(
        fs
          .readdirSync(layout.verified)
          .sort()
          .map(name => [name, sha256Hex(fs.readFileSync(join(layout.verified, name)))]),
      ),
    names: directory => fs.readdirSync(directory).sort(),
    start({ judge = nobodySigned, bulk, downloaderUid, ...change } = {}) {
      const controller = new AbortController()
      const its = context({ ...change, signal: controller.signal })
      const ended = startVerifier(its, judge, {
        ...(bulk && { bulk }),
        ...(downloaderUid !== undefined && { downloaderUid }),
      })
      const one: RunningVerifier = {
        peer: its.peer,
        ended,
        stop: () => {
          controller.abort()
          return ended
        },
        status: (sha256, is) =>
          its.peer.until(() => {
            const status = its.peer.said('verifyStatus').get(sha256)
            return status && is(status) && status
          }),
      }
      running.push(one)
      return one
    },
    async remove() {
      await Promise.allSettled(running.map(one => one.stop()))
      fs.rmSync(root, { recursive: true, force: true })
    },
  }
}
