// Keeps the certificates that came as content in certs/, and knows which have arrived.

import { join } from 'node:path'
import { removeIfThere } from '../../lib/durable.ts'
import { messageOf, unreachable } from '../../lib/errors.ts'
import { contentError, type Failure } from '../content-error.ts'
import { wholeNameOf } from '../half-made.ts'
import type { CertMaterial, CertStatus, Sha256 } from '../messages.ts'
import { writeSmallFile } from '../process/small-file.ts'
import type { SignatureQuestion } from '../signature/judge.ts'
import { certificateNameOf } from './names.ts'
import { type FoundCertificate, type GoodCertificate, planCertificates } from './plan-certificates.ts'
import { readBlob } from './read-blob.ts'
import { sinceOf, systemSetback } from './setback.ts'
import type { Tools } from './tools.ts'
import type { VerifiedFile } from './verified-file.ts'

export interface Certificates {
  /** What is given, its blobs, or whether all are known may have changed. */
  look(): void
  arrived(): SignatureQuestion['certificates']
  /** Resolves when nothing is being written any more. */
  ended(): Promise<void>
}

export interface CertificatesTools extends Tools {
  readonly signal: AbortSignal
  readonly fileOf: (sha256: Sha256) => VerifiedFile | undefined
  /** Others have arrived than before. */
  readonly onChange: () => void
}

const maxCertificate = 64 * 1024
const retryAfter = 60_000

export function keepCertificates(tools: CertificatesTools): Certificates {
  const { peer, files, layout, clock, log, signal } = tools
  const told = new Map<string, CertStatus>()
  let arrived: SignatureQuestion['certificates'] = []
  let work = Promise.resolve()
  let willLook = false

  for (const name of files.readdir(layout.certs))
    if (wholeNameOf(name) !== null) removeIfThere(files, join(layout.certs, name))

  /** One after the other: two must not write or remove the same file. */
  const look = () => {
    if (willLook || signal.aborted) return
    willLook = true
    work = work.then(async () => {
      willLook = false
      await bringAbout().catch(error => log(`verifier: certificates: ${messageOf(error)}`))
    })
  }

  const bringAbout = async () => {
    const given = new Map([...peer.all('certMaterial')].map(([id, material]) => [id, textOf(tools, material)]))
    const stored = new Set(files.readdir(layout.certs))
    const { found, store, remove } = planCertificates({ given, stored, complete: peer.isComplete('certMaterial') })
    const unstored = new Map<Sha256, Failure>()
    for (const one of store) {
      const failure = await storing(one)
      if (failure) unstored.set(one.fingerprint, failure)
    }
    for (const name of remove) removeIfThere(files, join(layout.certs, name))
    publish(found, unstored)
    if (unstored.size > 0) clock.sleep(retryAfter, signal).then(look, () => {})
  }

  const storing = async ({ fingerprint, pem }: GoodCertificate): Promise<Failure | null> => {
    try {
      const name = certificateNameOf(fingerprint)
      await writeSmallFile(tools, { directory: layout.certs, name, text: pem, mode: 0o444 })
      return null
    } catch (error) {
      const { code, text } = systemSetback(error)
      return { code: code === 'content.no-space' ? code : 'certificate.not-stored', text }
    }
  }

  const publish = (found: ReadonlyMap<string, FoundCertificate>, unstored: ReadonlyMap<Sha256, Failure>) => {
    for (const id of [...told.keys()].filter(id => !found.has(id))) {
      told.delete(id)
      peer.retract('certStatus', id)
    }
    const before = arrived
    arrived = []
    for (const [id, one] of found) {
      const failure = failureOf(one, unstored)
      const status = statusOf(id, one, failure)
      told.set(id, status)
      peer.publish('certStatus', id, status)
      if (one.is === 'good' && !failure) arrived = [...arrived, { id, pem: one.pem }]
    }
    if (JSON.stringify(before) !== JSON.stringify(arrived)) tools.onChange()
  }

  const statusOf = (id: string, one: FoundCertificate, failure: Failure | null): CertStatus => {
    const now = clock.now()
    if (failure) {
      const since = sinceOf(told.get(id)?.error, failure.code, now)
      return { id, state: 'initial', error: contentError('verifier', failure, { since, now }) }
    }
    return one.is === 'good' ? { id, state: 'verified', fingerprint: one.fingerprint } : { id, state: 'initial' }
  }

  return { look, arrived: () => arrived, ended: () => work }
}

/** Null while the blob is not there; a blob that cannot be a certificate is text that is none. */
function textOf({ files, fileOf }: CertificatesTools, { pem, sha256 }: CertMaterial): string | null {
  if (pem !== undefined) return pem
  const file = sha256 && fileOf(sha256)
  if (!sha256 || !file) return null
  return readBlob(files, file.path, { sha256, max: maxCertificate })?.toString('latin1') ?? ''
}

function failureOf(one: FoundCertificate, unstored: ReadonlyMap<Sha256, Failure>): Failure | null {
  switch (one.is) {
    case 'missing':
      return null
    case 'bad':
      return { code: 'certificate.invalid', text: one.why }
    case 'good':
      return unstored.get(one.fingerprint) ?? null
    default:
      return unreachable(one)
  }
}
