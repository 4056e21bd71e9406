import { describe, expect, it } from 'vitest'
import type { UnitName } from '../names.ts'
import { failuresIn, parseShow, parseUnitList, statusFrom, unquoted } from './systemctl-output.ts'

describe('what systemctl show prints', () => {
  it('is one block per unit, in any order of properties, values with any character', () => {
    expect(parseShow('Id=a.service\nResult=success\n\nDropInPaths=\nId=b=c.service\n')).toEqual([
      { Id: 'a.service', Result: 'success' },
      { DropInPaths: '', Id: 'b=c.service' },
    ])
  })

  it('quotes names with a backslash and paths with a space', () => {
    expect(unquoted('"x\\\\x2dy.target" plain.target "/etc/a b/\\"c\\".conf"')).toEqual([
      'x\\x2dy.target',
      'plain.target',
      '/etc/a b/"c".conf',
    ])
    expect(unquoted('')).toEqual([])
    expect(unquoted(undefined)).toEqual([])
  })

  it.each([
    ['1min 30s', 90_000],
    ['1.5s', 1500],
    ['1h 2ms 300us', 3_600_002],
    ['1month 1w 1d', 2_629_800_000 + 604_800_000 + 86_400_000],
    ['0', 0],
    ['infinity', null],
  ])('writes the time %s', (text, ms) => {
    expect(statusFrom('a.service' as UnitName, { TimeoutStartUSec: text }).startTimeoutMs).toBe(ms)
  })

  it('gives one timeout for sockets, and none for targets', () => {
    const socket = statusFrom('a.socket' as UnitName, { TimeoutUSec: '5s' })
    expect([socket.startTimeoutMs, socket.stopTimeoutMs]).toEqual([5000, 5000])
    const target = statusFrom('a.target' as UnitName, {})
    expect([target.startTimeoutMs, target.stopTimeoutMs]).toEqual([null, null])
  })

  it('counts who wants and who requires a unit together, once each', () => {
    const block = { WantedBy: 'c.target a.target', RequiredBy: 'a.target b.service' }
    expect(statusFrom('x.service' as UnitName, block).wantedBy).toEqual(['a.target', 'b.service', 'c.target'])
  })
})

it('finds names and states in a list of units', () => {
  const text = `
  -.mount            loaded    active   mounted Root Mount
  a\\x2db.service    loaded    failed   failed  words of a description
  gone.service       not-found inactive dead    gone.service
`
  expect(parseUnitList(text)).toEqual([
    { unit: '-.mount', active: 'active' },
    { unit: 'a\\x2db.service', active: 'failed' },
    { unit: 'gone.service', active: 'inactive' },
  ])
})

describe('what systemctl says about jobs', () => {
  it.each([
    ['Failed to start a.service: Unit a.service is masked.', 'Unit a.service is masked.'],
    ['Job for a.service failed because a timeout was exceeded.', 'failed'],
    ['Job for a.service failed.', 'failed'],
    ['Job for a.service canceled.', 'canceled'],
    ['Job for a.service timed out.', 'timeout'],
    ["A dependency job for a.service failed. See 'journalctl -xe' for details.", 'dependency'],
    ['a.service is not active, cannot reload.', 'invalid'],
    ['Assertion failed on job for a.service.', 'assert'],
    ['Operation on or unit type of a.service not supported on this system.', 'unsupported'],
    ['Queued job for a.service was garbage collected.', 'collected'],
    ["Unit a.service was started already once and can't be started again.", 'once'],
  ])('%s', (line, detail) => {
    expect([...failuresIn(`${line}\n`)]).toEqual([['a.service', detail]])
  })

  it('has lines that are about no job', () => {
    const text = `Warning: The unit file, source configuration file or drop-ins of a.service changed on disk.
See "systemctl status a.service" and "journalctl -xeu a.service" for details.
Job failed. See "journalctl -xe" for details.
`
    expect([...failuresIn(text)]).toEqual([])
  })
})
