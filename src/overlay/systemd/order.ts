// The order in which a batch is handed to systemd. Each job is a request of its own there: one whose predecessor has no job
// yet runs at once. So predecessors go first, and systemd then makes the others wait for them.
import type { UnitName } from '../names.ts'
import type { Job } from './systemd.ts'

/** `after`: for each unit of the batch, those that its After= names. Units in a cycle keep the order they came in. */
export function inOrder(jobs: readonly Job[], after: ReadonlyMap<UnitName, readonly UnitName[]>): Job[] {
  const stops = jobs.filter(job => job.do === 'stop')
  const others = jobs.filter(job => job.do !== 'stop')
  // What comes up last goes down first.
  return [...predecessorsFirst(stops, after).reverse(), ...predecessorsFirst(others, after)]
}

function predecessorsFirst(jobs: readonly Job[], after: ReadonlyMap<UnitName, readonly UnitName[]>): Job[] {
  const byUnit = new Map(jobs.map(job => [job.unit, job]))
  const entered = new Set<Job>()
  const ordered: Job[] = []
  const place = (job: Job) => {
    if (entered.has(job)) return
    entered.add(job)
    for (const predecessor of after.get(job.unit) ?? []) {
      const earlier = byUnit.get(predecessor)
      if (earlier) place(earlier)
    }
    ordered.push(job)
  }
  jobs.forEach(place)
  return ordered
}
