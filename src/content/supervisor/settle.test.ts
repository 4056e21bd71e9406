import { describe, expect, it } from 'vitest'
import { aContentConfig, aVerifyStatus } from '../pubsub/pubsub.fake.ts'
import { steppedClock } from '../pubsub/stepped-clock.fake.ts'
import type { TopicName } from '../topics.ts'
import { isSettled, letSettle } from './settle.ts'

/** Of the messages only what is looked at. */
type Said = { readonly [T in TopicName]?: Readonly<Record<string, object>> }
const hubOf = (said: () => Said) => ({
  read: (topic: TopicName) => new Map(Object.entries(said()[topic] ?? {})) as never,
})

const held: Said = {
  contentConfig: { 'packages/a': aContentConfig('a') },
  contentStatus: { 'packages/a': {} },
  downloadConfig: { a: { refs: 1 } },
  downloadStatus: { a: {} },
  verifyConfig: { a: { refs: 1, expired: false }, kept: { refs: 0, expired: false } },
  verifyStatus: { a: aVerifyStatus(), kept: aVerifyStatus({ state: 'verified' }) },
}

describe('the processes have put everything away', () => {
  it('when there is nothing, and when all that is said is of what somebody wants or what is kept', () => {
    expect(isSettled(hubOf(() => ({})))).toBe(true)
    expect(isSettled(hubOf(() => held))).toBe(true)
  })

  it.each<[string, Said]>([
    ['a status of what nobody asks for any more', { contentConfig: {} }],
    ['a download that was let go', { downloadConfig: { a: { refs: 0 } } }],
    ['a download that goes', { downloadConfig: {} }],
    ['a blob that is let go', { verifyConfig: { a: { refs: 0, expired: true } } }],
    ['a blob that goes', { verifyConfig: {}, verifyStatus: { a: aVerifyStatus({ expired: true }) } }],
  ])('not while there is %s', (_, said) => expect(isSettled(hubOf(() => ({ ...held, ...said })))).toBe(false))

  it('is waited for, but not for ever', async () => {
    let said: Said = { contentStatus: { 'packages/a': {} } }
    const clock = steppedClock()
    let hasEnded = false
    const begin = () => {
      hasEnded = false
      letSettle(
        hubOf(() => said),
        clock,
      ).then(() => (hasEnded = true))
    }
    begin()
    await clock.advance(1000)
    expect(hasEnded).toBe(false)
    said = {}
    await clock.advance(60)
    expect(hasEnded).toBe(true)

    said = { contentStatus: { 'packages/a': {} } }
    begin()
    await clock.advance(2500)
    expect(hasEnded).toBe(false)
    await clock.advance(1000)
    expect(hasEnded).toBe(true)
  })
})
