import { describe, expect, it } from 'vitest'
import type { Sha256 } from '../../messages.ts'
import { OriginFailure } from '../origin.ts'
import { partOf, rangeHeaders, validatorOf } from './range.ts'

const sha256 = 'a'.repeat(64) as Sha256

describe('a range is asked for', () => {
  it.each([
    ['closed when the size is known', { from: 10, total: 100, sha256 }, { range: 'bytes=10-99' }],
    ['open when it is not', { from: 10, sha256 }, { range: 'bytes=10-' }],
    ['open when nothing is left to ask for', { from: 100, total: 100, sha256 }, { range: 'bytes=100-' }],
    [
      'with the validator where no digest is',
      { from: 10, validator: '"v1"' },
      { range: 'bytes=10-', 'if-range': '"v1"' },
    ],
    ['without it where one is', { from: 10, validator: '"v1"', sha256 }, { range: 'bytes=10-' }],
    ['not at the beginning', { from: 0, total: 100, sha256 }, {}],
    ['not when nothing says that the object is still the same', { from: 10, total: 100 }, {}],
  ])('%s', (_, wanted, headers) => {
    expect(rangeHeaders(wanted)).toEqual(headers)
  })
})

describe('a part', () => {
  const wanted = { from: 10, total: 100, sha256 }

  it.each([
    ['that ends with the whole', 'bytes 10-99/100', wanted, { offset: 10, total: 100, length: 90 }],
    ['that ends before it', 'bytes 10-19/100', wanted, { offset: 10, total: 100, length: 10 }],
    ['of a whole it does not tell', 'bytes 10-99/*', wanted, { offset: 10, total: 100, length: 90 }],
    ['of an unknown whole', 'bytes 10-99/*', { from: 10, sha256 }, { offset: 10, total: null, length: 90 }],
    ['of a whole that was not known', 'bytes 10-99/100', { from: 10, sha256 }, { offset: 10, total: 100, length: 90 }],
    ['that is everything', 'bytes 0-99/100', { from: 0 }, { offset: 0, total: 100, length: 100 }],
  ])('%s is taken', (_, range, asked, part) => {
    expect(partOf({ 'content-range': range }, asked, 'here')).toEqual(part)
  })

  it.each([
    ['begins elsewhere', 'bytes 0-99/100'],
    ['is of another size', 'bytes 10-100/101'],
    ['goes beyond its whole', 'bytes 10-100/100'],
    ['goes beyond an untold whole', 'bytes 10-100/*'],
    ['ends before it begins', 'bytes 10-5/100'],
    ['is of no such unit', 'lines 10-99/100'],
    ['has numbers nobody can count', 'bytes 10-99/99999999999999999999'],
    ['does not say what it is', undefined],
  ])('that %s is refused', (_, range) => {
    expect(() => partOf({ 'content-range': range }, wanted, 'here')).toThrow(
      expect.objectContaining({ code: 'source.range-unusable', kind: 'range' }) as OriginFailure,
    )
  })

  it('of an object that has changed is refused, even when the server did not mind', () => {
    const asked = { from: 10, validator: '"v1"' }
    const headers = { 'content-range': 'bytes 10-99/100' }
    expect(partOf({ ...headers, etag: '"v1"' }, asked, 'here').offset).toBe(10)
    expect(() => partOf({ ...headers, etag: '"v2"' }, asked, 'here')).toThrow(OriginFailure)
  })
})

describe('a validator', () => {
  it('is a strong ETag, else a date', () => {
    const lastModified = 'Tue, 01 Jan 2030 00:00:00 GMT'
    expect(validatorOf({ etag: '"v1"', 'last-modified': lastModified })).toBe('"v1"')
    expect(validatorOf({ etag: 'W/"v1"', 'last-modified': lastModified })).toBe(lastModified)
    expect(validatorOf({ etag: 'W/"v1"' })).toBe(null)
  })
})
