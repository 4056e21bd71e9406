// What one server takes from those who call it. Each is a setting; these are the defaults.
import { defaultLimits, type Limits } from '../bundles/model/source.ts'

export interface ServerLimits extends Limits {
  /** All headers of one request together. */
  readonly headerBytes: number
  readonly connections: number
  /** Event streams at once. */
  readonly streams: number
  /** Requests of one token at once. */
  readonly requestsPerToken: number
  /** Bodies beyond 1 MiB of all requests under way together; one of unknown length counts as the largest. */
  readonly bodiesBytes: number
  /** Refused tokens of one address in a minute; beyond it 429. */
  readonly refusedLogins: number
  /** For a request to arrive as a whole. */
  readonly arriveMs: number
  /** For requests and applies under way when the server stops; then they are undone. */
  readonly stopMs: number
  /** How long an event stream may not be read before it is dropped. */
  readonly stalledMs: number
  readonly heartbeatMs: number
}

export const defaultServerLimits: ServerLimits = {
  ...defaultLimits,
  headerBytes: 16 * 2 ** 10,
  connections: 4_000,
  streams: 1_000,
  requestsPerToken: 256,
  bodiesBytes: 64 * 2 ** 20,
  refusedLogins: 60,
  arriveMs: 60_000,
  stopMs: 30_000,
  stalledMs: 30_000,
  heartbeatMs: 15_000,
}
