// Where content lies on a machine. Each directory has one writer; nothing else writes there.
import { join } from 'node:path'

export interface ContentLayout {
  /** Downloader. */
  readonly pending: string
  /** Verifier: copies that are being hashed. */
  readonly verifier: string
  /** Verifier: `<sha256>.<escaped media type>`, mode 0400. */
  readonly verified: string
  /** Verifier: bad downloads, for a look. */
  readonly quarantine: string
  /** Verifier: certificates that came as content. */
  readonly certs: string
  /** The administrator: roots of trust, `*.pem`. */
  readonly trust: string
  /** Manager: latches, deferred deletes, purge counters. */
  readonly manager: string
  /** Manager. */
  readonly volumes: string
  /** Hub: requests that are kept. */
  readonly requests: string
  /** Sockets and the lock of the supervisor. */
  readonly run: string
}

/** `base` is the store as this process finds it; `run` likewise. */
export function contentLayoutOf({ base, run }: { base: string; run: string }): ContentLayout {
  const content = join(base, 'content')
  return {
    pending: join(content, 'pending'),
    verifier: join(content, 'verifier'),
    verified: join(content, 'verified'),
    quarantine: join(content, 'quarantine'),
    certs: join(content, 'certs'),
    trust: join(content, 'trust'),
    manager: join(content, 'manager'),
    volumes: join(base, 'volumes'),
    requests: join(content, 'requests'),
    run,
  }
}
