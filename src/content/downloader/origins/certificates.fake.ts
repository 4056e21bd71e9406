// A certificate authority of the test's own, and a certificate of it for 127.0.0.1. Needs openssl.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findProgram } from '../../../lib/run.ts'

export interface FakeCertificates {
  /** PEM of the authority. */
  readonly ca: string
  readonly key: string
  readonly cert: string
}

export function makeCertificates(): FakeCertificates {
  const directory = mkdtempSync(join(tmpdir(), 'cairn-certificates-'))
  const openssl = (...args: string[]) =>
    execFileSync(findProgram('openssl')!, args, { cwd: directory, stdio: ['ignore', 'ignore', 'pipe'] })
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
  try {
    openssl(
      'req',
      '-x509',
      ...newKey,
      '-keyout',
      'ca.key',
      '-out',
      'ca.pem',
      '-days',
      '2',
      '-subj',
      '/CN=test authority',
    )
    openssl('req', ...newKey, '-keyout', 'key.pem', '-out', 'request.pem', '-subj', '/CN=127.0.0.1')
    writeFileSync(join(directory, 'names'), 'subjectAltName=IP:127.0.0.1\n')
    const issuer = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial']
    openssl('x509', '-req', '-in', 'request.pem', ...issuer, '-days', '2', '-extfile', 'names', '-out', 'cert.pem')
    const read = (name: string) => readFileSync(join(directory, name), 'utf8')
    return { ca: read('ca.pem'), key: read('key.pem'), cert: read('cert.pem') }
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
