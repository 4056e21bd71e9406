// Figures for Prometheus: what is asked, how long it takes, what there is. Names of routes, never paths, so that the number
// of series does not grow with the fleet.
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { Database } from './ports.ts'

export interface Metrics {
  answered(request: {
    readonly route: string
    readonly method: string
    readonly status: number
    readonly ms: number
  }): void
  applied(outcome: string): void
  text(): Promise<{ readonly text: string; readonly type: string }>
  readonly registry: Registry
}

export function createMetrics({
  database,
  streams,
}: {
  readonly database: Pick<Database, 'counts' | 'leadership'>
  /** Event streams that are open. */
  streams(): number
}): Metrics {
  const registry = new Registry()
  const registers = [registry]
  const requests = new Counter({
    name: 'cairn_http_requests_total',
    help: 'Requests answered.',
    labelNames: ['route', 'method', 'status'],
    registers,
  })
  const seconds = new Histogram({
    name: 'cairn_http_request_seconds',
    help: 'Time from the first byte of a request to the last of its answer.',
    labelNames: ['route'],
    buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 60],
    registers,
  })
  const applies = new Counter({
    name: 'cairn_applies_total',
    help: 'Applies by how they ended.',
    labelNames: ['outcome'],
    registers,
  })
  const resources = new Gauge({ name: 'cairn_resources', help: 'Live resources.', labelNames: ['kind'], registers })
  const stacks = new Gauge({ name: 'cairn_stacks', help: 'Stacks.', registers })
  new Gauge({
    name: 'cairn_event_streams',
    help: 'Open event streams.',
    registers,
    collect() {
      this.set(streams())
    },
  })
  new Gauge({
    name: 'cairn_leader',
    help: '1 on the server that does what must be done once.',
    registers,
    collect() {
      this.set(database.leadership.isLeader() ? 1 : 0)
    },
  })

  return {
    registry,
    answered: ({ route, method, status, ms }) => {
      requests.inc({ route, method, status })
      if (route !== 'events') seconds.observe({ route }, ms / 1000)
    },
    applied: outcome => applies.inc({ outcome }),
    text: async () => {
      const counts = await database.counts()
      resources.reset()
      for (const [kind, count] of Object.entries(counts.resources)) resources.set({ kind }, count)
      stacks.set(counts.stacks)
      return { text: await registry.metrics(), type: registry.contentType }
    },
  }
}
