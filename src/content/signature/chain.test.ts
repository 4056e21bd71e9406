import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { lacks } from '../../lib/lacks.fake.ts'
import { run } from '../../lib/run.ts'
import { type Certificate, readCertificate, readCertificates } from './certificate.ts'
import {
  type CertificateWish,
  certificateDer,
  certificatePem,
  codeSigning,
  serverAuth,
  someone,
} from './certificates.fake.ts'
import { type ChainQuestion, earliestNow, judgeChain } from './chain.ts'
import { now } from './signatures.fake.ts'

const [root, middle, lower, signer] = [someone('root'), someone('middle'), someone('lower'), someone('signer')]

const certify = (wish: CertificateWish): Certificate => readCertificate(certificateDer(wish))!
const rootWish: CertificateWish = { subject: root, issuer: root, authority: {}, keyUsage: ['keyCertSign'] }
const middleWish: CertificateWish = { subject: middle, issuer: root, authority: {}, keyUsage: ['keyCertSign'] }
const lowerWish: CertificateWish = { subject: lower, issuer: middle, authority: {} }
const leafWish: CertificateWish = {
  subject: signer,
  issuer: middle,
  keyUsage: ['digitalSignature'],
  purposes: [codeSigning],
}

const question = (more: Partial<ChainQuestion> = {}): ChainQuestion => ({
  leaf: certify(leafWish),
  intermediates: [certify(middleWish)],
  roots: [certify(rootWish)],
  now,
  ...more,
})

describe('judgeChain', () => {
  it('finds the way over an intermediate to a root', () => {
    expect(judgeChain(question())).toBeNull()
  })

  it('finds it in any order, among others, and with the root among the intermediates', () => {
    const stranger = someone('root')
    const intermediates = [
      certify({ subject: someone('middle'), issuer: stranger, authority: {} }),
      certify(rootWish),
      certify(lowerWish),
      certify(middleWish),
    ]
    const leaf = certify({ subject: signer, issuer: lower })
    expect(judgeChain(question({ leaf, intermediates }))).toBeNull()
  })

  it('takes a root that signs itself without an authority in between', () => {
    const self = certify({ subject: signer, issuer: signer, purposes: [codeSigning] })
    expect(judgeChain(question({ leaf: self, intermediates: [], roots: [self] }))).toBeNull()
    expect(judgeChain(question({ leaf: self, intermediates: [self], roots: [] }))).toMatchObject({ lacksIssuer: true })
  })

  it.each([
    ['the root is not in trust/', { roots: [] }],
    ['the root only came along', { roots: [], intermediates: [certify(middleWish), certify(rootWish)] }],
    ['the intermediate is missing', { intermediates: [] }],
    ['an intermediate lies in trust/ instead of the root', { roots: [certify(middleWish)], intermediates: [] }],
    [
      'a stranger has the name of the intermediate',
      { intermediates: [certify({ ...middleWish, subject: someone('middle') })] },
    ],
  ] satisfies [string, Partial<ChainQuestion>][])('says that an issuer could still come when %s', (_, more) => {
    expect(judgeChain(question(more))).toMatchObject({ lacksIssuer: true })
  })

  it.each([
    ['the leaf has expired', { leaf: certify({ ...leafWish, to: '2026-12-31T00:00:00Z' }) }, 'expired'],
    ['the leaf is not valid yet', { leaf: certify({ ...leafWish, from: '2028-01-01T00:00:00Z' }) }, 'only from'],
    [
      'the intermediate has expired',
      { intermediates: [certify({ ...middleWish, to: '2026-12-31T00:00:00Z' })] },
      'expired',
    ],
    ['the root has expired', { roots: [certify({ ...rootWish, to: '2026-12-31T00:00:00Z' })] }, 'expired'],
    ['the leaf may not sign data', { leaf: certify({ ...leafWish, keyUsage: ['keyCertSign'] }) }, 'may not sign data'],
    ['the leaf is for servers', { leaf: certify({ ...leafWish, purposes: [serverAuth] }) }, 'other purposes'],
    [
      'the leaf has an unknown critical extension',
      { leaf: certify({ ...leafWish, more: [{ oid: '1.2.3.4', critical: true }] }) },
      '1.2.3.4',
    ],
    ['the leaf is signed with SHA-1', { leaf: certify({ ...leafWish, hash: 'sha1' }) }, 'SHA1'],
    [
      'the intermediate is no authority',
      { intermediates: [certify({ subject: middle, issuer: root })] },
      'no certificate authority',
    ],
    [
      'the intermediate may not sign certificates',
      { intermediates: [certify({ ...middleWish, keyUsage: ['digitalSignature'] })] },
      'may not sign certificates',
    ],
    [
      'the path is longer than the root allows',
      {
        leaf: certify({ subject: signer, issuer: lower }),
        intermediates: [certify(lowerWish), certify(middleWish)],
        roots: [certify({ ...rootWish, authority: { pathLength: 1 } })],
      },
      'allows 1',
    ],
  ] satisfies [string, Partial<ChainQuestion>, string][])('refuses for good when %s', (_, more, reason) => {
    const fault = judgeChain(question(more))
    expect(fault).toMatchObject({ lacksIssuer: false })
    expect(fault?.reason).toContain(reason)
  })

  it('counts path lengths as the standard does: the leaf is not counted', () => {
    expect(judgeChain(question({ roots: [certify({ ...rootWish, authority: { pathLength: 1 } })] }))).toBeNull()
    expect(
      judgeChain(question({ intermediates: [certify({ ...middleWish, authority: { pathLength: 0 } })] })),
    ).toBeNull()
    expect(judgeChain(question({ roots: [certify({ ...rootWish, authority: { pathLength: 0 } })] }))).not.toBeNull()
  })

  it('takes eight certificates and not nine', () => {
    const chainOf = (length: number) => {
      const people = [root, ...Array.from({ length: length - 1 }, (_, index) => someone(`ca ${index}`))]
      const certificates = people
        .slice(1)
        .map((subject, index) => certify({ subject, issuer: people[index]!, authority: {} }))
      return judgeChain(question({ leaf: certificates.at(-1)!, intermediates: certificates }))
    }
    expect(chainOf(8)).toBeNull()
    expect(chainOf(9)?.reason).toContain('more than 8')
  })

  it('ends when certificates sign each other', () => {
    const [one, other] = [someone('one'), someone('other')]
    const loop = [
      certify({ subject: one, issuer: other, authority: {} }),
      certify({ subject: other, issuer: one, authority: {} }),
    ]
    expect(
      judgeChain(question({ leaf: certify({ subject: signer, issuer: one }), intermediates: loop })),
    ).not.toBeNull()
  })

  it('ends when every one of many has signed every other', () => {
    const people = Array.from({ length: 8 }, (_, index) => someone(`ca ${index}`))
    const all = people.flatMap(issuer =>
      people.filter(subject => subject !== issuer).map(subject => certify({ subject, issuer, authority: {} })),
    )
    const fault = judgeChain(question({ leaf: certify({ subject: signer, issuer: people[0]! }), intermediates: all }))
    expect(fault?.reason).toContain('too many ways')
  })

  it('lives in 1970 as in the time it was built, and believes no clock that tells nothing', () => {
    expect(judgeChain(question({ now: new Date(0) }))).toBeNull()
    const over = certify({ ...leafWish, to: new Date(earliestNow.getTime() - 1000).toISOString() })
    expect(judgeChain(question({ now: new Date(0), leaf: over }))?.reason).toContain('expired')
    expect(judgeChain(question({ now: new Date(Number.NaN) }))).not.toBeNull()
  })
})

describe('readCertificates', () => {
  it('reads all in a text, and none when one of them is broken', () => {
    const pem = certificatePem(rootWish)
    expect(readCertificates(`before\n${pem}between\n${certificatePem(middleWish)}`)).toHaveLength(2)
    expect(readCertificates(`${pem}${pem.replace(/^MII/m, 'AAA')}`)).toBeNull()
    for (const garbage of ['', 'x', '-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----'])
      expect(readCertificates(garbage)).toBeNull()
  })

  it('refuses an extension that stands twice, since readers differ in which one they see', () => {
    const extension = { oid: '1.2.3', critical: false }
    expect(readCertificates(certificatePem({ ...leafWish, more: [extension] }))).toHaveLength(1)
    expect(readCertificates(certificatePem({ ...leafWish, more: [extension, extension] }))).toBeNull()
  })
})

it.skipIf(lacks('openssl'))('agrees with openssl about a chain', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'cairn-chain-'))
  try {
    const file = (name: string, wish: CertificateWish) => {
      writeFileSync(join(directory, name), certificatePem(wish))
      return join(directory, name)
    }
    const verify = async (middleFile: string) =>
      (
        await run('/usr/bin/openssl', [
          ...'verify -no-CApath -no-CAstore -attime 1798761600 -purpose any -CAfile'.split(' '),
          file('root', rootWish),
          '-untrusted',
          middleFile,
          file('leaf', leafWish),
        ])
      ).code
    expect(await verify(file('good', middleWish))).toBe(0)
    expect(await verify(file('bad', { subject: middle, issuer: root }))).not.toBe(0)
  } finally {
    rmSync(directory, { recursive: true })
  }
})
