// What the tests of the sources share: origins with a clock that is stepped by hand, and short ways to ask and to read.
import { type Clock, realClock } from '../../../lib/clock.ts'
import { realFiles } from '../../../lib/files.ts'
import type { Datastore, Sha256 } from '../../messages.ts'
import type { Source } from '../../source.ts'
import { type OpenRequest, OriginFailure, type Origins } from '../origin.ts'
import { createOrigins } from './origins.ts'
import type { FakeRegistry } from './registry.fake.ts'

export interface TestOrigins extends Origins {
  /** Steps the clock. */
  pass(ms: number): void
  /** Opens and reads to the end. */
  read(request: Partial<OpenRequest> & Pick<OpenRequest, 'source'>): Promise<Reading>
}

export interface Reading {
  readonly bytes: Buffer
  readonly offset: number
  readonly total: number | null
  readonly validator: string | null
  readonly contentType: string | null
}

export const shortStallMs = 200

export function testOrigins(datastores: readonly Datastore[] = [], stallMs = 5000): TestOrigins {
  let passedMs = 0
  const clock: Clock = {
    ...realClock,
    now: () => new Date(Date.UTC(2030, 0, 1) + passedMs),
    monotonicMs: () => 1_000_000 + passedMs,
  }
  const origins = createOrigins({ clock, proxyEnv: {}, files: realFiles })
  origins.configure(datastores, stallMs)
  return {
    ...origins,
    pass: ms => {
      passedMs += ms
    },
    async read(request) {
      const opened = await origins.open({ as: 'blob', from: 0, signal: never, ...request })
      const { offset, total, validator, contentType } = opened
      return { bytes: Buffer.concat(await Array.fromAsync(opened.body)), offset, total, validator, contentType }
    },
  }
}

/** A signal that nobody aborts. */
export const never = new AbortController().signal

export const blobAt = ({ host }: Pick<FakeRegistry, 'host'>, sha256: Sha256, more: Partial<OpenRequest> = {}) => ({
  source: { kind: 'registry', host, repository: 'app' } as Source,
  sha256,
  ...more,
})

/** The failure that something ends in; anything else, and success, is thrown on. */
export async function failureOf(work: Promise<unknown>): Promise<OriginFailure> {
  try {
    await work
  } catch (error) {
    if (error instanceof OriginFailure) return error
    throw error
  }
  throw new Error('it did not fail')
}

/** `source.truncated passing`. */
export async function verdictOf(work: Promise<unknown>): Promise<string> {
  const { code, kind } = await failureOf(work)
  return `${code} ${kind}`
}
