// Looks for a way from a certificate to a root of this machine. Roots come from trust/ alone; whatever came with a signature
// or as content can only stand in between, and an intermediate that lies in trust/ by mistake is no root.
// Ends for every input: no certificate twice, eight at most, a bounded search.
import { type Certificate, nameOf } from './certificate.ts'
import { weaknessOf } from './key.ts'

export interface ChainQuestion {
  readonly leaf: Certificate
  readonly intermediates: readonly Certificate[]
  readonly roots: readonly Certificate[]
  readonly now: Date
}

/** Null when the chain is good. */
export type ChainFault = {
  readonly reason: string
  /** A certificate that is not here could still complete it. */
  readonly lacksIssuer: boolean
} | null

/** A machine may start in 1970. No certificate that was over by then could vouch for anything this version meets. */
export const earliestNow = new Date('2026-11-01T00:00:00Z')

const maxCertificates = 8
const maxSignatureChecks = 200
const codeSigning = '1.3.6.1.5.5.7.3.3'
const anyPurpose = '2.5.29.37.0'

export function judgeChain({ leaf, intermediates, roots, now }: ChainQuestion): ChainFault {
  const at = Math.max(now.getTime(), earliestNow.getTime())
  const fault = faultOf(leaf, at) ?? leafFaultOf(leaf)
  if (fault) return refuse(fault)
  const anchors = roots.filter(root => root.x509.subject === root.x509.issuer && hasIssued(root, root))
  let checksLeft = maxSignatureChecks

  const search = (path: readonly Certificate[]): ChainFault => {
    const last = path.at(-1)!
    if (anchors.some(root => isSame(root, last))) return null
    let worst: ChainFault = lacksIssuer(last)
    for (const issuer of [...anchors, ...intermediates]) {
      if (issuer.x509.subject !== last.x509.issuer || path.some(one => isSame(one, issuer))) continue
      if (checksLeft-- <= 0) return refuse('its certificates allow too many ways to a root')
      if (!hasIssued(issuer, last)) continue
      const found = issuerFaultOf(issuer, path, at) ?? search([...path, issuer])
      if (!found) return null
      // What is known to be wrong says more than what is not there.
      if (worst.lacksIssuer) worst = found
    }
    return worst
  }
  return search([leaf])
}

/** Null when it may stand above the path. */
function issuerFaultOf(issuer: Certificate, path: readonly Certificate[], at: number): ChainFault {
  const { isAuthority, keyUsage, pathLength } = issuer.rules
  const name = `"${nameOf(issuer)}"`
  const below = path.length - 1
  if (path.length >= maxCertificates) return refuse(`it has more than ${maxCertificates} certificates`)
  if (!isAuthority) return refuse(`${name} is no certificate authority`)
  if (keyUsage && !keyUsage.signsCertificates) return refuse(`the key of ${name} may not sign certificates`)
  if (pathLength !== null && below > pathLength)
    return refuse(`${name} allows ${pathLength} authorities below it, and there are ${below}`)
  const fault = faultOf(issuer, at)
  return fault === null ? null : refuse(fault)
}

/** What is wrong with a certificate wherever it stands. */
function faultOf(certificate: Certificate, at: number): string | null {
  const { x509, rules } = certificate
  const name = `"${nameOf(certificate)}"`
  const [from, to] = [x509.validFromDate.getTime(), x509.validToDate.getTime()]
  if (!(from <= at)) return `${name} is valid only from ${x509.validFromDate.toISOString()}`
  if (!(at <= to)) return `${name} has expired at ${x509.validToDate.toISOString()}`
  if (rules.unknownCritical.length > 0)
    return `${name} has a critical extension ${rules.unknownCritical[0]} that is not known`
  if (/md[245]|sha1(?!\d)/i.test(x509.signatureAlgorithm ?? ''))
    return `${name} is signed with ${x509.signatureAlgorithm}`
  const weakness = weaknessOf(x509.publicKey)
  return weakness && `the key of ${name}: ${weakness}`
}

function leafFaultOf(leaf: Certificate): string | null {
  const { keyUsage, purposes } = leaf.rules
  const name = `"${nameOf(leaf)}"`
  if (keyUsage && !keyUsage.signsData) return `the key of ${name} may not sign data`
  if (purposes && !purposes.includes(codeSigning) && !purposes.includes(anyPurpose))
    return `${name} is for other purposes than to sign code`
  return null
}

function hasIssued(issuer: Certificate, { x509 }: Certificate): boolean {
  try {
    return x509.verify(issuer.x509.publicKey)
  } catch {
    return false
  }
}

const isSame = (one: Certificate, other: Certificate): boolean => one.x509.raw.equals(other.x509.raw)

const refuse = (reason: string) => ({ reason, lacksIssuer: false })

const lacksIssuer = (certificate: Certificate) => ({
  reason: `the issuer of "${nameOf(certificate)}" is neither here nor a root in trust/`,
  lacksIssuer: true,
})
