import { X509Certificate } from 'node:crypto'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { realFiles } from '../../lib/files.ts'
import type { CertStatus } from '../messages.ts'
import { steppedClock } from '../pubsub/stepped-clock.fake.ts'
import { oneCertificate, twoCertificate } from './certificates.fake.ts'
import { planCertificates } from './plan-certificates.ts'
import { type Bench, bench, type RunningVerifier, shaOf, syncingWith } from './verifier.fake.ts'

const fingerprintOf = (pem: string) => shaOf(new X509Certificate(pem).raw)
const [one, two] = [fingerprintOf(oneCertificate), fingerprintOf(twoCertificate)]

describe('planCertificates', () => {
  const view = { given: new Map<string, string | null>(), stored: new Set<string>(), complete: true }

  it('stores one file for all ids that have the same certificate', () => {
    const given = new Map([
      ['a', oneCertificate],
      ['b', `\n${oneCertificate.trim()}\n\n`],
    ])
    const plan = planCertificates({ ...view, given })
    expect(plan.store).toMatchObject([{ fingerprint: one }])
    expect(plan.found.get('b')).toMatchObject({ is: 'good', fingerprint: one })
    expect(planCertificates({ ...view, given, stored: new Set([`${one}.pem`]) }).store).toEqual([])
  })

  it('removes what no id has, when all ids are known, and never what is not ours', () => {
    const stored = new Set([`${one}.pem`, `${two}.pem`, 'README', 'old.pem'])
    const given = new Map([['a', oneCertificate]])
    expect(planCertificates({ given, stored, complete: true }).remove).toEqual([`${two}.pem`])
    expect(planCertificates({ given, stored, complete: false }).remove).toEqual([])
  })

  it.each([
    ['nothing', ''],
    ['other text', 'hello'],
    ['two at once', oneCertificate + twoCertificate],
    ['no certificate', '-----BEGIN CERTIFICATE-----\naGVsbG8=\n-----END CERTIFICATE-----\n'],
    ['a cut one', oneCertificate.slice(0, 200)],
    ['a key', '-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA\n-----END PUBLIC KEY-----\n'],
  ])('refuses %s', (_, pem) => {
    expect(planCertificates({ ...view, given: new Map([['a', pem]]) }).found.get('a')?.is).toBe('bad')
  })

  it('waits for what is not here yet', () => {
    const plan = planCertificates({ ...view, given: new Map([['a', null]]) })
    expect(plan.found.get('a')).toEqual({ is: 'missing' })
  })
})

describe('certificates as content', () => {
  let its: Bench
  beforeEach(() => {
    its = bench()
  })
  afterEach(() => its.remove())

  const until = ({ peer }: RunningVerifier, id: string, is: (status: CertStatus) => boolean) =>
    peer.until(() => {
      const status = peer.said('certStatus').get(id)
      return status && is(status) && status
    })
  const isStored = ({ state }: CertStatus) => state === 'verified'

  it('are stored by the digest of the certificate itself, and told', async () => {
    const running = its.start()
    running.peer.say('certMaterial', 'acme', { pem: oneCertificate })
    expect(await until(running, 'acme', isStored)).toEqual({ id: 'acme', state: 'verified', fingerprint: one })
    expect(its.names(its.layout.certs)).toEqual([`${one}.pem`])
    const stored = fs.readFileSync(join(its.layout.certs, `${one}.pem`))
    expect(fingerprintOf(stored.toString())).toBe(one)
  })

  it('are taken from a verified blob, when it comes', async () => {
    const running = its.start()
    const { sha256, config } = its.download(Buffer.from(oneCertificate))
    running.peer.say('certMaterial', 'acme', { sha256 })
    expect(await until(running, 'acme', () => true)).toEqual({ id: 'acme', state: 'initial' })
    running.peer.say('verifyConfig', sha256, config)
    await until(running, 'acme', isStored)
  })

  it('that are none are told, and stored nowhere', async () => {
    const running = its.start()
    running.peer.say('certMaterial', 'acme', { pem: 'nonsense' })
    const status = await until(running, 'acme', ({ error }) => error !== undefined)
    expect(status).toMatchObject({ state: 'initial', error: { code: 'certificate.invalid', source: 'verifier' } })
    expect(its.names(its.layout.certs)).toEqual([])
  })

  it('go when no id has them any more, and not before', async () => {
    const running = its.start()
    const { peer } = running
    peer.finish('certMaterial')
    for (const id of ['a', 'b']) peer.say('certMaterial', id, { pem: oneCertificate })
    await until(running, 'b', isStored)
    peer.unsay('certMaterial', 'a')
    await peer.until(() => !peer.said('certStatus').has('a'))
    expect(its.names(its.layout.certs)).toEqual([`${one}.pem`])
    peer.unsay('certMaterial', 'b')
    await peer.until(() => !peer.said('certStatus').has('b'))
    expect(its.names(its.layout.certs)).toEqual([])
  })

  it('that nobody mentions after a start go only when all ids are known', async () => {
    fs.mkdirSync(its.layout.certs)
    for (const name of [`${two}.pem`, 'notes', '.half.tmp-0123456789ab'])
      fs.writeFileSync(join(its.layout.certs, name), '')
    const running = its.start()
    running.peer.say('certMaterial', 'a', { pem: oneCertificate })
    await until(running, 'a', isStored)
    expect(its.names(its.layout.certs)).toEqual([`${one}.pem`, `${two}.pem`, 'notes'].sort())
    running.peer.finish('certMaterial')
    running.peer.say('certMaterial', 'b', { pem: oneCertificate })
    await until(running, 'b', isStored)
    expect(its.names(its.layout.certs)).toEqual([`${one}.pem`, 'notes'].sort())
  })

  it('that cannot be written are told, and tried again', async () => {
    const clock = steppedClock()
    let isFull = true
    const durability = {
      sync: async (directory: string, names: readonly string[]) => {
        if (isFull) throw Object.assign(new Error('full'), { code: 'ENOSPC' })
        await syncingWith(realFiles).sync(directory, names)
      },
    }
    const running = its.start({ clock, durability })
    running.peer.say('certMaterial', 'a', { pem: oneCertificate })
    const status = await until(running, 'a', ({ error }) => error !== undefined)
    expect(status.error?.code).toBe('content.no-space')
    expect(its.names(its.layout.certs)).toEqual([])
    isFull = false
    await clock.advance(60_000)
    await until(running, 'a', isStored)
  })
})
