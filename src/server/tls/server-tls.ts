// Which certificate a server shows: the one it was given, or one of its own making, kept in the data directory and signed by
// an authority that is made once. Its own is made anew when it is near its end or its hosts changed.
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { hostname } from 'node:os'
import { join } from 'node:path'
import type { Clock } from '../../lib/clock.ts'
import { writeDurably } from '../../lib/durable.ts'
import { CairnError, isErrno, messageOf } from '../../lib/errors.ts'
import { realFiles } from '../../lib/files.ts'
import { isLoopback } from '../client.ts'
import { type KeyedCertificate, makeAuthority, makeServerCertificate } from './certificate.ts'

export interface ServerTls {
  readonly cert: string
  readonly key: string
  /** What clients have to trust; absent for a given certificate. */
  readonly caFile?: string
}

const dayMs = 86_400_000
const authorityDays = 3_650
/** Programs refuse server certificates that live much longer than a year. */
const serverDays = 397
const renewDays = 60

/** Null: plain HTTP, which is for loopback only. */
export function tlsFor({
  given,
  ...own
}: {
  readonly given?: { readonly cert: string; readonly key: string }
  readonly dataDirectory: string
  readonly host: string
  readonly clock: Clock
}): ServerTls | null {
  if (given) return givenTls(given)
  return isLoopback(own.host) ? null : ownTls(own)
}

function givenTls({ cert, key }: { readonly cert: string; readonly key: string }): ServerTls {
  const tls = { cert: readGiven(cert), key: readGiven(key) }
  if (!new X509Certificate(tls.cert).checkPrivateKey(createPrivateKey(tls.key)))
    throw new CairnError('tls.key-mismatch', `${key} is not the key of the certificate in ${cert}`)
  return tls
}

function readGiven(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw new CairnError('tls.unreadable', `${path} cannot be read: ${messageOf(cause)}`, { cause })
  }
}

function ownTls({
  dataDirectory,
  host,
  clock,
}: {
  readonly dataDirectory: string
  readonly host: string
  readonly clock: Clock
}): ServerTls {
  const caFile = join(dataDirectory, 'ca.crt')
  const now = clock.now()
  const authority = kept(
    caFile,
    join(dataDirectory, 'ca.key'),
    good => isFresh(good, now),
    () => makeAuthority(`Cairn authority of ${hostname()}`, between(now, authorityDays)),
  )
  const hosts = hostsFor(host)
  const issuer = new X509Certificate(authority.certificate)
  const server = kept(
    join(dataDirectory, 'server.crt'),
    join(dataDirectory, 'server.key'),
    good => isFresh(good, now) && good.verify(issuer.publicKey) && hosts.every(name => isFor(good, name)),
    () =>
      makeServerCertificate(
        { name: issuer.subject.replace(/^CN=/, ''), key: createPrivateKey(authority.key) },
        { hosts, ...between(now, serverDays) },
      ),
  )
  return { cert: server.certificate, key: server.key, caFile }
}

/** A clock that is a little ahead of another's is no reason to refuse. */
const between = (now: Date, days: number) => ({
  from: new Date(now.getTime() - dayMs),
  until: new Date(now.getTime() + days * dayMs),
})

/** Listening on all addresses tells no name; the machine's own does. */
const hostsFor = (host: string): string[] => [
  ...new Set([...(['0.0.0.0', '::'].includes(host) ? [] : [host]), hostname(), 'localhost', '127.0.0.1', '::1']),
]

const isFresh = (certificate: X509Certificate, now: Date): boolean =>
  Date.parse(certificate.validTo) - now.getTime() > renewDays * dayMs

const isFor = (certificate: X509Certificate, name: string): boolean =>
  (isIP(name) === 0 ? certificate.checkHost(name) : certificate.checkIP(name)) !== undefined

/** Of the two files the key is written first: a certificate that is there has its key. */
function kept(
  certificateFile: string,
  keyFile: string,
  isGood: (certificate: X509Certificate) => boolean,
  make: () => KeyedCertificate,
): KeyedCertificate {
  const found = readKept(certificateFile, keyFile)
  if (found && isGood(new X509Certificate(found.certificate))) return found
  const made = make()
  writeDurably(realFiles, keyFile, made.key, { mode: 0o600 })
  writeDurably(realFiles, certificateFile, made.certificate, { mode: 0o644 })
  return made
}

function readKept(certificateFile: string, keyFile: string): KeyedCertificate | null {
  try {
    const pair = { certificate: readFileSync(certificateFile, 'utf8'), key: readFileSync(keyFile, 'utf8') }
    return new X509Certificate(pair.certificate).checkPrivateKey(createPrivateKey(pair.key)) ? pair : null
  } catch (error) {
    // What cannot be read as a certificate is made anew; what may not be read at all is not ours to replace.
    if (isErrno(error, 'EACCES', 'EPERM')) throw error
    return null
  }
}
