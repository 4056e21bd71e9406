// Brings a downloaded file into verified/: copied while it is hashed into a file of our own, compared, made durable, renamed.
// Holds: a name in verified/ has the bytes that its digest says, at every moment and after every crash.
import { constants } from 'node:fs'
import { join } from 'node:path'
import { removeIfThere } from '../../lib/durable.ts'
import { messageOf } from '../../lib/errors.ts'
import type { Sha256, VerifierSettings } from '../messages.ts'
import { checkDocument } from './check-document.ts'
import { checkFile } from './check-file.ts'
import { copyHashing } from './copy.ts'
import { copyNameOf, nameFits, verifiedNameOf } from './names.ts'
import { openPending } from './open-pending.ts'
import { putAway } from './quarantine.ts'
import { digestMismatch, mediaTypeTooLong, noSpace, type Setback, sizeMismatch, systemSetback } from './setback.ts'
import type { Tools, Watch } from './tools.ts'
import { type FileMark, markOf, type VerifiedFile } from './verified-file.ts'

export interface VerifyRequest {
  readonly sha256: Sha256
  readonly mediaType: string
  /** In pending/. */
  readonly path: string
  /** 0 when it is not known. */
  readonly size: number
}

export interface VerifyTools extends Tools {
  /** As they are now. */
  readonly settings: () => VerifierSettings
}

export type VerifyOutcome = { readonly file: VerifiedFile } | { readonly setback: Setback }

/** Throws only the reason of the signal; nothing of the copy is left then, nor after a setback. */
export async function verifyFile(tools: VerifyTools, request: VerifyRequest, watch: Watch): Promise<VerifyOutcome> {
  if (!nameFits(request.mediaType)) return { setback: mediaTypeTooLong(request.mediaType) }
  const copy = join(tools.layout.verifier, copyNameOf(request, tools.random))
  const checkedAt = tools.clock.now().toISOString()
  try {
    const copied = await copyPending(tools, request, { ...watch, copy })
    if ('setback' in copied) return copied
    return { file: await putInPlace(tools, request, { ...watch, copy, checkedAt, mark: copied.mark }) }
  } catch (error) {
    watch.signal.throwIfAborted()
    return { setback: systemSetback(error) }
  } finally {
    removeQuietly(tools, copy)
  }
}

interface CopyWatch extends Watch {
  readonly copy: string
}

type CopyOutcome = { readonly mark: FileMark } | { readonly setback: Setback }

async function copyPending(tools: VerifyTools, request: VerifyRequest, watch: CopyWatch): Promise<CopyOutcome> {
  const { files, layout, bulk } = tools
  const opened = openPending(tools, request.path)
  if ('setback' in opened) return opened
  try {
    const limit = request.size > 0 ? request.size : await bulk.free(layout.verifier)
    const tooLong = excess(request, { size: opened.size, limit })
    if (tooLong) return { setback: tooLong }
    return await copyOpened(tools, request, { ...watch, from: opened.fd, limit })
  } finally {
    files.close(opened.fd)
  }
}

const excess = ({ size }: VerifyRequest, found: { size: number; limit: number }): Setback | null => {
  if (size > 0 && found.size !== size) return sizeMismatch({ found: String(found.size), declared: size })
  if (found.size <= found.limit) return null
  return noSpace(`${found.size} bytes are needed for the verified copy, and ${found.limit} are free`)
}

interface OpenedWatch extends CopyWatch {
  readonly from: number
  readonly limit: number
}

async function copyOpened(tools: VerifyTools, request: VerifyRequest, watch: OpenedWatch): Promise<CopyOutcome> {
  const { files, bulk, layout } = tools
  // The mode is given at once and binds only those who open it later: through this descriptor it can be written.
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW
  const to = files.open(watch.copy, flags, 0o400)
  let setback: Setback | null
  try {
    const copied = await copyHashing(bulk, { ...watch, to })
    setback = whatIsWrong(request, { ...copied, limit: watch.limit }) ?? checkDocument(files, watch.copy, request)
    if (!setback) return { mark: markOf(files.fstat(to)) }
  } finally {
    files.close(to)
  }
  if (setback.code === 'content.digest-mismatch')
    putAway(files, layout.quarantine, tools.settings().quarantine, {
      path: watch.copy,
      sha256: request.sha256,
      time: tools.clock.now(),
    })
  return { setback }
}

interface Found {
  readonly size: number
  readonly sha256: Sha256 | null
  readonly limit: number
}

function whatIsWrong(request: VerifyRequest, { size, sha256, limit }: Found): Setback | null {
  const declared = request.size
  if (sha256 === null && declared === 0) return noSpace(`the downloaded file has more than the ${limit} bytes free`)
  if (sha256 === null) return sizeMismatch({ found: `more than ${declared}`, declared })
  if (declared > 0 && size !== declared) return sizeMismatch({ found: String(size), declared })
  return sha256 === request.sha256 ? null : digestMismatch({ computed: sha256, expected: request.sha256 })
}

interface Placing extends CopyWatch {
  readonly checkedAt: string
  readonly mark: FileMark
}

async function putInPlace(tools: VerifyTools, request: VerifyRequest, placing: Placing): Promise<VerifiedFile> {
  const { files, layout, durability } = tools
  const { copy, mark, checkedAt, signal } = placing
  const { sha256, mediaType } = request
  const name = verifiedNameOf(request)
  const path = join(layout.verified, name)
  // One of that name stays, if it is what it says; nobody told us of it, so it is not taken at its word.
  if (files.lstat(path)) {
    const found = await checkFile(tools, { path, sha256 }, { signal, onProgress: () => {} })
    if ('mark' in found) return { path, mediaType, ...found }
  }
  await durability.sync(layout.verifier, [copy.slice(layout.verifier.length + 1)])
  signal.throwIfAborted()
  files.rename(copy, path)
  try {
    await durability.sync(layout.verified, [])
  } catch (error) {
    removeQuietly(tools, path)
    throw error
  }
  return { path, mediaType, mark, checkedAt }
}

/** What stays of a copy is removed at the next start. */
function removeQuietly({ files, log }: VerifyTools, path: string) {
  try {
    removeIfThere(files, path)
  } catch (error) {
    log(`verifier: ${path} cannot be removed: ${messageOf(error)}`)
  }
}
