import { describe, expect, it } from 'vitest'
import type { Live, Platform } from '../bundles/platform.ts'
import { realClock } from '../lib/clock.ts'
import type { Spec } from '../resources/kind.ts'
import { kinds } from '../resources/kinds/all.ts'
import { awaitReadiness } from './readiness.ts'

const never = new AbortController().signal

function readinessOf(kind: string, status: Spec | null | 'gone') {
  const live = { kind, id: 'x', status } as Live
  const platform = { kinds, read: async () => new Map(status === 'gone' ? [] : [['x', live]]) } satisfies Pick<
    Platform,
    'kinds' | 'read'
  >
  const resources = [{ kind, id: 'x', name: 'thing' }]
  return awaitReadiness({ resources, platform, onChange: () => () => {}, clock: realClock, waitMs: 0, signal: never })
}

const condition = (status: string, message = '') => ({ conditions: [{ type: 'Ready', status, message }] })

describe('ready', () => {
  it.each<[string, string, Spec | null]>([
    ['a kind without status', 'Label', null],
    ['a condition that holds', 'Machine', { phase: 'Healthy', ...condition('True') }],
    ['a good phase, where no condition is said', 'CachedImage', { phase: 'Ready' }],
    ['a status that says nothing of it', 'DiscoveryPolicy', { discovered: 3 }],
  ])('is %s', async (_what, kind, status) => {
    expect(await readinessOf(kind, status)).toEqual({ ready: true, waiting: [] })
  })

  it.each<[string, Spec | null | 'gone', string]>([
    ['what has not reported', null, 'it has not reported yet'],
    ['what is gone', 'gone', 'it is gone'],
    ['a condition that does not hold', condition('False', '2 checks fail'), '2 checks fail'],
    ['conditions without Ready', { conditions: [] }, 'it has not said whether it is ready'],
    ['another phase', { phase: 'Preparing' }, 'it is Preparing'],
  ])('is not %s', async (_what, status, reason) => {
    expect((await readinessOf('Machine', status)).waiting).toEqual([{ kind: 'Machine', name: 'thing', reason }])
  })
})
