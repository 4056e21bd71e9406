// The verifier: takes downloaded files in only as the bytes that their digests say, keeps them, and has signatures judged.
// It has no network. Whatever goes wrong with one file is told in its status and ends nothing.
import type { Clock } from '../../lib/clock.ts'
import { makeDirectories } from '../../lib/durable.ts'
import { messageOf } from '../../lib/errors.ts'
import { defaultSettings } from '../default-settings.ts'
import { sha256Schema, type VerifierSettings } from '../messages.ts'
import type { ProcessContext } from '../process/context.ts'
import type { Change } from '../pubsub/peer.ts'
import { keepBlobs } from './blobs.ts'
import { type Bulk, realBulk } from './bulk.ts'
import { keepCertificates } from './certificates.ts'
import { readDeaths } from './deaths.ts'
import { emptyWorkshop, findVerified } from './find-files.ts'
import { readLedger, writeLedger } from './ledger.ts'
import { readRoots } from './roots.ts'
import { type JudgeSignature, keepSignatures } from './signatures.ts'

export interface VerifierOptions {
  /** The only one whose files in pending/ are read; not checked when absent. */
  readonly downloaderUid?: number | undefined
  readonly bulk?: Bulk
}

/** A lost line costs one hashing, so lines are gathered. */
const saveAfter = 5_000
/** How often trust/ and the clock are looked at, and whether files are due to be hashed again. */
const roundEvery = 60_000

/** Resolves when the signal has aborted and everything is put away. */
export async function startVerifier(
  context: ProcessContext,
  judge: JudgeSignature,
  { downloaderUid, bulk = realBulk }: VerifierOptions = {},
): Promise<void> {
  const { peer, files, layout, clock, log, signal } = context
  const tools = { ...context, bulk, downloaderUid }
  for (const directory of [layout.verifier, layout.verified, layout.quarantine, layout.certs])
    makeDirectories(files, directory)
  const settings = (): VerifierSettings => peer.all('verifierSettings').get('') ?? defaultSettings.verifier

  const deaths = readDeaths(files, layout.verifier, clock.bootId())
  const ledger = readLedger(files, layout.verifier)
  emptyWorkshop(tools)

  let isSaved = true
  let saving = Promise.resolve()
  const saveSoon = () => {
    if (isSaved) clock.sleep(saveAfter, signal).then(save, () => {})
    isSaved = false
  }
  const save = () => {
    saving = saving.then(async () => {
      if (isSaved) return
      isSaved = true
      await writeLedger(tools, ledger).catch(error => log(`verifier: the ledger is not written: ${messageOf(error)}`))
    })
    return saving
  }

  const blobs = keepBlobs({
    ...tools,
    settings,
    ledger,
    deaths,
    onFiles: sha256 => {
      saveSoon()
      signatures.onFile(sha256)
      if ([...peer.all('certMaterial').values()].some(material => material.sha256 === sha256)) certificates.look()
    },
  })
  const { fileOf } = blobs
  const certificates = keepCertificates({ ...tools, fileOf, onChange: () => signatures.lookAll() })
  const signatures = keepSignatures({ ...tools, judge, fileOf, certificates: certificates.arrived })

  const onChange = (changes: readonly Change[]) => {
    if (signal.aborted) return
    for (const { topic, key } of changes) {
      if (topic === 'verifyConfig') lookAt(key)
      if (topic === 'signatureConfig') signatures.look(key)
      if (topic === 'verifierSettings') blobs.lookForStale()
    }
    if (changes.length === 0 || changes.some(({ topic }) => topic === 'certMaterial')) certificates.look()
  }
  /** No path is ever made of a key that is no digest. */
  const lookAt = (key: string) => {
    const sha256 = sha256Schema.safeParse(key)
    if (sha256.success) blobs.look(sha256.data)
    else log('verifier: a config is ignored: its key is no digest')
  }

  /** The roots as one text; what is wrong with them is told once. */
  const lookAtRoots = (before: string | null): string => {
    const { roots, leftOut } = readRoots(tools)
    const text = [...roots, ...leftOut].join('\n')
    if (text !== before) for (const why of leftOut) log(`verifier: trust/: ${why}; it is left out`)
    return text
  }

  /** Trust in files of the administrator, and in the time, cannot be subscribed to. */
  const goRounds = async () => {
    let trusted = lookAtRoots(null)
    for (let then = clock.now().getTime(); await slept(clock, roundEvery, signal); then = clock.now().getTime()) {
      const jumped = Math.abs(clock.now().getTime() - then - roundEvery) > roundEvery
      const before = trusted
      trusted = lookAtRoots(before)
      if (jumped || trusted !== before) signatures.lookAll()
      blobs.lookForStale()
    }
  }

  const stopListening = peer.onChange(onChange)
  const found = findVerified(tools, { rehash: settings().rehash, ledger, interrupted: deaths.interrupted })
  for (const [sha256, its] of found) blobs.adopt(sha256, its)
  for (const key of peer.all('verifyConfig').keys()) lookAt(key)
  for (const key of peer.all('signatureConfig').keys()) signatures.look(key)
  certificates.look()
  const ended = goRounds()
  await Promise.race([Promise.all([blobs.swept(), certificates.ended()]), ended])
  if (!signal.aborted)
    for (const topic of ['verifyStatus', 'signatureStatus', 'certStatus'] as const) peer.complete(topic)

  await ended
  stopListening()
  await Promise.all([blobs.ended(), certificates.ended()])
  await save()
}

/** False when the signal ended it. */
async function slept(clock: Clock, ms: number, signal: AbortSignal): Promise<boolean> {
  if (!signal.aborted) await clock.sleep(ms, signal).catch(() => {})
  return !signal.aborted
}
