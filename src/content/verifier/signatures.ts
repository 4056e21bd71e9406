// Has signatures judged: gathers what the judge needs, from verified/ and trust/ only, and publishes what he says. Without
// all of the material, or when judging fails, there is no verdict, and whoever requires one gets none.
import { messageOf } from '../../lib/errors.ts'
import { canonicalJson, sha256Hex } from '../../lib/json.ts'
import { redact } from '../../lib/redact.ts'
import { contentError, type Failure } from '../content-error.ts'
import type { ContentError, Sha256, SignatureConfig, SignatureStatus } from '../messages.ts'
import type { judgeSignature, SignatureQuestion } from '../signature/judge.ts'
import type { Material } from '../signature/material.ts'
import { readBlob } from './read-blob.ts'
import { readRoots } from './roots.ts'
import { sinceOf } from './setback.ts'
import type { Tools } from './tools.ts'
import type { VerifiedFile } from './verified-file.ts'

/** Given by who starts the verifier. */
export type JudgeSignature = typeof judgeSignature

export interface Signatures {
  /** The config of this key may have changed. */
  look(key: string): void
  /** Certificates, roots or the time have changed. */
  lookAll(): void
  /** This blob came or went: those that wait for it look again. */
  onFile(sha256: Sha256): void
}

export interface SignaturesTools extends Tools {
  readonly judge: JudgeSignature
  readonly fileOf: (sha256: Sha256) => VerifiedFile | undefined
  readonly certificates: () => SignatureQuestion['certificates']
}

/** Signatures and what carries them are small; nothing larger is read. */
const maxMaterial = 4 * 2 ** 20

export function keepSignatures(tools: SignaturesTools): Signatures {
  const { peer } = tools
  const told = new Map<string, SignatureStatus>()

  const look = (key: string) => {
    const config = peer.all('signatureConfig').get(key)
    if (config) {
      const status = statusOf(tools, config, told.get(key)?.error)
      told.set(key, status)
      peer.publish('signatureStatus', key, status)
    } else if (told.delete(key)) peer.retract('signatureStatus', key)
  }
  return {
    look,
    lookAll() {
      for (const key of peer.all('signatureConfig').keys()) look(key)
    },
    onFile(sha256) {
      for (const [key, { root, verdict }] of told)
        if (root === sha256 || (!verdict && peer.all('signatureConfig').get(key)?.material.includes(sha256))) look(key)
    },
  }
}

function statusOf(
  tools: SignaturesTools,
  config: SignatureConfig,
  previous: ContentError | undefined,
): SignatureStatus {
  const { root, trust } = config
  const of = sha256Hex(canonicalJson(config))
  const now = tools.clock.now()
  const failed = (failure: Failure) => ({
    error: contentError('verifier', failure, { since: sinceOf(previous, failure.code, now), now }),
  })
  try {
    const material = gather(tools, config)
    if ('code' in material) return { root, of, ...failed(material) }
    const certificates = tools.certificates()
    const answer = tools.judge({ root, trust, material, certificates, roots: readRoots(tools).roots, now })
    const { verdict, signedBy, code = 'signature.invalid', reason = 'the signature is refused' } = answer
    if (verdict === 'refused') return { root, of, verdict, ...failed({ code, text: redact(reason) }) }
    return { root, of, verdict, ...(signedBy !== undefined && { signedBy: signedBy.slice(0, 1000) }) }
  } catch (error) {
    return { root, of, ...failed({ code: 'signature.judge-failed', text: redact(messageOf(error)) }) }
  }
}

function gather(tools: SignaturesTools, { root, material }: SignatureConfig): Material[] | Failure {
  const gathered: Material[] = []
  for (const sha256 of new Set(material)) {
    const file = tools.fileOf(sha256)
    if (file && file.mark.size > maxMaterial)
      return { code: 'signature.material-too-large', text: `${sha256} has ${file.mark.size} bytes` }
    const one = file && read(tools, sha256, file)
    if (!one) return { code: 'signature.material-missing', text: `${sha256} may carry a signature and is not verified` }
    gathered.push(one)
  }
  // Some signatures are over the bytes of the root.
  const file = material.includes(root) ? undefined : tools.fileOf(root)
  const one = file && read(tools, root, file)
  return one ? [...gathered, one] : gathered
}

function read({ files }: SignaturesTools, sha256: Sha256, { path, mediaType }: VerifiedFile): Material | null {
  const bytes = readBlob(files, path, { sha256, max: maxMaterial })
  return bytes && { sha256, mediaType, bytes }
}
