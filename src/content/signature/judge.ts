// Decides whether a tree may be used, from the signatures that came with it or were found beside it. One good signature of
// an allowed signer is enough, whatever else lies beside it; what is required and not proven is refused.
// Pure, and throws for no input: a signature that cannot be read is a bad one.
import type { KeyObject } from 'node:crypto'
import type { Sha256, Trust } from '../messages.ts'
import { readBundles } from './bundle.ts'
import { type Certificate, nameOf, readCertificates } from './certificate.ts'
import { judgeChain } from './chain.ts'
import type { Claim, Unusable } from './claim.ts'
import { readCosignTags } from './cosign-tag.ts'
import { hasSigned, nameOfKey, readPublicKey } from './key.ts'
import type { Material } from './material.ts'
import { readRequest } from './request.ts'

export interface SignatureQuestion {
  readonly root: Sha256
  readonly trust: Trust
  /** With the root itself, when it is a manifest: a bare signature is over its bytes. */
  readonly material: readonly Material[]
  /** Those that have arrived; only the ones that `trust` names are used. */
  readonly certificates: readonly { readonly id: string; readonly pem: string }[]
  /** PEM of trust/. */
  readonly roots: readonly string[]
  readonly now: Date
}

export interface SignatureJudgement {
  /** `unsigned` and `good` are accepted; `waiting` becomes one of the others when a certificate arrives. */
  readonly verdict: 'good' | 'unsigned' | 'waiting' | 'refused'
  readonly signedBy?: string
  readonly code?: 'signature.missing' | 'signature.invalid' | 'signature.keyless-unsupported'
  readonly reason?: string
}

/** More are not looked at: whoever can add that many can as well take the good ones away. */
const maxClaims = 100

export function judgeSignature(question: SignatureQuestion): SignatureJudgement {
  const { policy } = question.trust
  if (policy === 'none') return { verdict: 'good' }
  const claims = [...readRequest(question), ...readCosignTags(question), ...readBundles(question)].slice(0, maxClaims)
  if (claims.length === 0)
    return policy === 'optional'
      ? { verdict: 'unsigned' }
      : { verdict: 'refused', code: 'signature.missing', reason: 'nobody has signed it, and a signature is required' }

  const signers = readSigners(question)
  const outcomes = claims.map(claim => judgeClaim(claim, signers))
  const good = outcomes.find(outcome => 'signedBy' in outcome)
  if (good) return { verdict: 'good', signedBy: good.signedBy }
  return refusalOf(
    outcomes.filter(outcome => 'reason' in outcome),
    signers,
  )
}

interface Signers {
  readonly keys: readonly KeyObject[]
  /** Arrived, and named by the request. */
  readonly certificates: readonly Certificate[]
  readonly roots: readonly Certificate[]
  /** Named by the request, and not here yet. */
  readonly missing: readonly string[]
  /** Of those who cannot be used. */
  readonly notes: readonly string[]
  readonly now: Date
}

function readSigners({ trust, certificates, roots, now }: SignatureQuestion): Signers {
  const notes: string[] = []
  const keys = trust.keys.map(readPublicKey).flatMap((key, index) => {
    if (typeof key === 'object') return [key]
    notes.push(`key ${index + 1} is not used: ${key}`)
    return []
  })
  const read = (pem: string, what: string): Certificate[] => {
    const found = readCertificates(pem)
    if (!found) notes.push(`${what} cannot be read`)
    return found ?? []
  }
  const arrived = certificates.filter(({ id }) => trust.certificates.includes(id))
  return {
    keys,
    certificates: arrived.flatMap(({ id, pem }) => read(pem, `the certificate ${id}`)),
    roots: roots.flatMap(pem => read(pem, 'a file in trust/')),
    missing: trust.certificates.filter(id => !arrived.some(certificate => certificate.id === id)),
    notes,
    now,
  }
}

interface Refusal {
  readonly what: string
  readonly reason: string
  /** A certificate that is not here could make it good. */
  readonly mayWait?: boolean
  readonly isKeyless?: boolean
}

type Outcome = { readonly signedBy: string } | Refusal

function judgeClaim(claim: Claim | Unusable, signers: Signers): Outcome {
  if ('reason' in claim) return claim
  const { what, message, signature } = claim
  const key = signers.keys.find(candidate => hasSigned(candidate, message, signature))
  if (key) return { signedBy: nameOfKey(key) }
  const [own] = claim.certificates
  const leaves = (own ? [own] : signers.certificates).filter(({ x509 }) =>
    hasSigned(x509.publicKey, message, signature),
  )
  if (leaves.length === 0) return { what, ...notSigned(claim, signers) }
  const outcomes = leaves.map(leaf => judgeLeaf(leaf, claim, signers))
  return outcomes.find(outcome => 'signedBy' in outcome) ?? outcomes[0]!
}

function judgeLeaf(leaf: Certificate, { what, certificates }: Claim, signers: Signers): Outcome {
  // Anyone can have such a certificate; who it names can be judged only with Sigstore's logs, even if its root is trusted.
  if (leaf.rules.isKeyless)
    return { what, reason: 'it is keyless (Fulcio), which cannot be judged on a machine by itself', isKeyless: true }
  const intermediates = [...certificates.slice(1), ...signers.certificates]
  const fault = judgeChain({ leaf, intermediates, roots: signers.roots, now: signers.now })
  return fault ? { what, reason: fault.reason, mayWait: fault.lacksIssuer } : { signedBy: nameOf(leaf) }
}

function notSigned({ certificates }: Claim, { keys, certificates: arrived }: Signers): Omit<Refusal, 'what'> {
  if (certificates.length > 0) return { reason: 'neither an allowed key nor that of its own certificate has made it' }
  const none = keys.length === 0 && arrived.length === 0
  return { reason: none ? 'no key is given that could have made it' : 'no allowed key has made it', mayWait: true }
}

function refusalOf(refusals: readonly Refusal[], { missing, notes }: Signers): SignatureJudgement {
  const reason = [...new Set([...refusals.map(({ what, reason }) => `${what}: ${reason}`), ...notes])].join('; ')
  if (missing.length > 0 && refusals.some(({ mayWait }) => mayWait))
    return { verdict: 'waiting', reason: `waits for the certificates ${missing.join(', ')}; ${reason}`.slice(0, 3000) }
  const isKeyless = refusals.every(refusal => refusal.isKeyless)
  return {
    verdict: 'refused',
    code: isKeyless ? 'signature.keyless-unsupported' : 'signature.invalid',
    reason: reason.slice(0, 3000),
  }
}
