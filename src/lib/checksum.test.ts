import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { parseChecksum, spellChecksum } from './checksum.ts'

const digest = (algorithm: string, encoding: 'hex' | 'base64', text = 'x') =>
  createHash(algorithm).update(text).digest(encoding)
const sha256 = digest('sha256', 'hex')

describe('parseChecksum', () => {
  it.each([
    ['hex', `sha256:${sha256}`],
    ['upper-case hex', `sha256:${sha256.toUpperCase()}`],
    ['SRI', `sha256-${digest('sha256', 'base64')}`],
    ['space around it', ` sha256:${sha256}\n`],
  ])('reads %s as the same checksum', (_, text) => {
    expect(parseChecksum(text)).toEqual({ algorithm: 'sha256', digests: [sha256] })
  })

  it.each(['sha384', 'sha512'] as const)('reads %s', algorithm => {
    const expected = { algorithm, digests: [digest(algorithm, 'hex')] }
    expect(parseChecksum(`${algorithm}-${digest(algorithm, 'base64')}`)).toEqual(expected)
  })

  it('takes the strongest of several, and all of that strength', () => {
    const text = `sha256:${sha256} sha512-${digest('sha512', 'base64')} sha512-${digest('sha512', 'base64', 'y')}`
    const digests = [digest('sha512', 'hex'), digest('sha512', 'hex', 'y')].sort()
    expect(parseChecksum(text)).toEqual({ algorithm: 'sha512', digests })
  })

  it.each([
    '',
    'sha256',
    'sha256:',
    `sha256:${sha256.slice(1)}`,
    `sha256:${sha256}0`,
    `sha256:${sha256.replace(/./, 'g')}`,
    `sha1:${digest('sha1', 'hex')}`,
    `md5-${digest('md5', 'base64')}`,
    sha256,
    `sha256-${digest('sha256', 'hex')}`,
    `sha256-${digest('sha256', 'base64').slice(0, -2)}`,
    `sha256:${digest('sha256', 'base64')}`,
    `sha256:${sha256} rubbish`,
    `sha512:${sha256}`,
  ])('refuses %j', text => {
    expect(parseChecksum(text)).toBeNull()
  })

  it('spells equal checksums alike', () => {
    const spelled = [`sha256:${sha256}`, `sha256-${digest('sha256', 'base64')}`].map(text =>
      spellChecksum(parseChecksum(text)!),
    )
    expect(spelled).toEqual([`sha256:${sha256}`, `sha256:${sha256}`])
  })
})
