// Decides which certificates lie in certs/. One file may serve several ids; a file goes when no id has it any more, and only
// when all ids are known. Names that are not ours stay.
import { X509Certificate } from 'node:crypto'
import { sha256Hex } from '../../lib/json.ts'
import type { Sha256 } from '../messages.ts'
import { certificateNameOf, isCertificateName } from './names.ts'

export interface CertificatesView {
  /** By id; null while the blob that holds it is not verified. */
  readonly given: ReadonlyMap<string, string | null>
  /** Names in certs/. */
  readonly stored: ReadonlySet<string>
  /** All ids are known. */
  readonly complete: boolean
}

export interface CertificatesPlan {
  readonly found: ReadonlyMap<string, FoundCertificate>
  readonly store: readonly GoodCertificate[]
  /** Names in certs/. */
  readonly remove: readonly string[]
}

export type FoundCertificate =
  | GoodCertificate
  | { readonly is: 'missing' }
  | { readonly is: 'bad'; readonly why: string }

export interface GoodCertificate {
  readonly is: 'good'
  readonly fingerprint: Sha256
  /** As it is stored: this certificate and nothing else. */
  readonly pem: string
}

export function planCertificates({ given, stored, complete }: CertificatesView): CertificatesPlan {
  const found = new Map([...given].map(([id, text]) => [id, readCertificate(text)]))
  const wanted = new Map<string, GoodCertificate>()
  for (const one of found.values()) if (one.is === 'good') wanted.set(certificateNameOf(one.fingerprint), one)
  return {
    found,
    store: [...wanted].filter(([name]) => !stored.has(name)).map(([, one]) => one),
    remove: complete ? [...stored].filter(name => isCertificateName(name) && !wanted.has(name)) : [],
  }
}

function readCertificate(text: string | null): FoundCertificate {
  if (text === null) return { is: 'missing' }
  const blocks = text.match(/-----BEGIN [A-Z0-9 ]+-----/g) ?? []
  if (blocks.length !== 1 || blocks[0] !== '-----BEGIN CERTIFICATE-----')
    return { is: 'bad', why: `one certificate in PEM is expected, and ${blocks.length} blocks of any kind were found` }
  try {
    const certificate = new X509Certificate(text)
    return { is: 'good', fingerprint: sha256Hex(certificate.raw) as Sha256, pem: certificate.toString() }
  } catch {
    return { is: 'bad', why: 'the text between BEGIN and END is no certificate' }
  }
}
