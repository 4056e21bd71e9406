import { expect, it } from 'vitest'
import { noRestarts, planRestart, type RestartRecord } from './plan-restart.ts'

/** Lives of that length, one after the other with the pauses that the plan asks for. */
function restarts(lengths: readonly number[]) {
  let record: RestartRecord = noRestarts
  let now = 0
  return lengths.map(length => {
    const plan = planRestart(record, { startedAt: now, endedAt: now + length })
    record = plan.record
    now += length + plan.afterMs
    return { afterMs: plan.afterMs, degraded: record.degraded }
  })
}

it('waits 0.2 s, then twice as long each time, up to 30 s', () => {
  const pauses = restarts(Array(10).fill(10)).map(({ afterMs }) => afterMs)
  expect(pauses).toEqual([200, 400, 800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000])
})

it('begins anew after a life of a minute', () => {
  expect(restarts([10, 10, 60_000, 10]).map(({ afterMs }) => afterMs)).toEqual([200, 400, 200, 400])
})

it('is degraded after five ends in a minute, until a life has lasted a minute', () => {
  const states = restarts([10, 10, 10, 10, 10, 59_999, 60_000]).map(({ degraded }) => degraded)
  expect(states).toEqual([false, false, false, false, true, true, false])
})

it('is not degraded by five ends that are further apart', () => {
  expect(restarts([20_000, 20_000, 20_000, 20_000, 20_000, 20_000]).some(({ degraded }) => degraded)).toBe(false)
})
