// The small readers: time spans, signals, paths.
import { describe, expect, it } from 'vitest'
import { pathsBelow } from './seen-paths.ts'
import { readSignal } from './settings.ts'
import { readTimeSpan } from './time-span.ts'

describe('a time span', () => {
  it.each([
    ['90', 90_000],
    ['1.5', 1500],
    ['1min 30s', 90_000],
    ['1min30s', 90_000],
    ['2h', 7_200_000],
    ['500ms', 500],
    ['20us', 0],
    ['3 days', 259_200_000],
    ['infinity', null],
    ['0', 0],
    ['', undefined],
    ['soon', undefined],
    ['5 parsecs', undefined],
    ['-1', undefined],
  ])('%j is %j', (text, ms) => {
    expect(readTimeSpan(text)).toBe(ms)
  })

  it('is read in no time, however long the text', () => {
    expect(readTimeSpan(`${'1'.repeat(100_000)}!`)).toBeUndefined()
  })
})

describe('a signal', () => {
  it.each([
    ['SIGINT', 'SIGINT'],
    ['INT', 'SIGINT'],
    ['2', 'SIGINT'],
    ['SIGNAL', undefined],
    ['', undefined],
  ])('%j is %j', (text, signal) => {
    expect(readSignal(text)).toBe(signal)
  })
})

describe('paths of the machine', () => {
  const below = pathsBelow({ prefix: '/home/x/try', store: '/cairn' })

  it.each([
    ['/etc/web/greeting', '/home/x/try/etc/web/greeting'],
    ['/etc', '/home/x/try/etc'],
    ['/cairn/states/a-b/bin/a', '/home/x/try/cairn/states/a-b/bin/a'],
    ['--config=/etc/a.conf', '--config=/home/x/try/etc/a.conf'],
    ['/cairn/a/bin:/cairn/b/bin:/usr/bin', '/home/x/try/cairn/a/bin:/home/x/try/cairn/b/bin:/usr/bin'],
    [`cat "/etc/a" '/etc/b' </etc/c`, `cat "/home/x/try/etc/a" '/home/x/try/etc/b' </home/x/try/etc/c`],
  ])('%s is found at %s', (seen, found) => {
    expect(below(seen)).toBe(found)
  })

  it.each(['/etcetera', '/cairns/x', '/usr/etc/a', 'etc/a', '/home/x/try/etc/a', 'http://h:1/etc/a', '/usr/bin/env'])(
    '%s stays as it is',
    text => {
      expect(below(text)).toBe(text)
    },
  )
})
