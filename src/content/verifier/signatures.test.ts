import * as fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { canonicalJson, sha256Hex } from '../../lib/json.ts'
import type { SignatureConfig, SignatureStatus, VerifyStatus } from '../messages.ts'
import { type SteppedClock, steppedClock } from '../pubsub/stepped-clock.fake.ts'
import type { SignatureJudgement, SignatureQuestion } from '../signature/judge.ts'
import { oneCertificate, twoCertificate } from './certificates.fake.ts'
import { type Bench, bench, octets, type RunningVerifier, shaOf } from './verifier.fake.ts'

let its: Bench
let clock: SteppedClock
let questions: SignatureQuestion[]
let answer: SignatureJudgement | Error
beforeEach(() => {
  its = bench()
  clock = steppedClock()
  questions = []
  answer = { verdict: 'good', signedBy: 'release key' }
})
afterEach(() => its.remove())

const start = (time = clock) =>
  its.start({
    clock: time,
    judge: question => {
      questions.push(question)
      if (answer instanceof Error) throw answer
      return answer
    },
  })
const payload = Buffer.from('a signature')
const config: SignatureConfig = {
  name: 'registry.example/app',
  root: shaOf(Buffer.from('root')),
  trust: { policy: 'required', keys: [], certificates: ['acme'] },
  material: [],
}
const key = 'images/app'
const statusOf = ({ peer }: RunningVerifier): SignatureStatus | undefined => peer.said('signatureStatus').get(key)
const isVerified = ({ state }: VerifyStatus) => state === 'verified'

async function takeIn(running: RunningVerifier, bytes: Buffer) {
  const { sha256, config } = its.download(bytes)
  running.peer.say('verifyConfig', sha256, config)
  await running.status(sha256, isVerified)
  return sha256
}

it('asks with all that the answer depends on, and tells which config it judged', async () => {
  fs.writeFileSync(join(its.layout.trust, 'root.pem'), `# ours\n${oneCertificate}${twoCertificate}`)
  const running = start()
  const material = [await takeIn(running, payload)]
  const asked = { ...config, material }
  running.peer.say('signatureConfig', key, asked)
  expect(questions).toHaveLength(1)
  expect(questions[0]).toMatchObject({
    root: config.root,
    trust: config.trust,
    material: [{ sha256: shaOf(payload), mediaType: octets, bytes: payload }],
    certificates: [],
    now: clock.now(),
  })
  expect(questions[0]!.roots.map(root => `${root}\n`)).toEqual([oneCertificate, twoCertificate])
  expect(statusOf(running)).toEqual({
    root: config.root,
    verdict: 'good',
    signedBy: 'release key',
    of: sha256Hex(canonicalJson(asked)),
  })
})

it('has no verdict before all of the material is verified, and one as soon as it is', async () => {
  const running = start()
  running.peer.say('signatureConfig', key, { ...config, material: [shaOf(payload)] })
  expect(questions).toEqual([])
  expect(statusOf(running)).toMatchObject({ error: { code: 'signature.material-missing' } })
  expect(statusOf(running)).not.toHaveProperty('verdict')
  await takeIn(running, payload)
  expect(statusOf(running)).toMatchObject({ verdict: 'good' })
})

it('reads no material that has rotted or is too large', async () => {
  const running = start()
  const rotten = await takeIn(running, payload)
  const path = running.peer.said('verifyStatus').get(rotten)!.path!
  fs.chmodSync(path, 0o600)
  fs.writeFileSync(path, 'A signature')
  running.peer.say('signatureConfig', key, { ...config, material: [rotten] })
  expect(statusOf(running)).toMatchObject({ error: { code: 'signature.material-missing' } })

  const large = await takeIn(running, Buffer.alloc(4 * 2 ** 20 + 1))
  running.peer.say('signatureConfig', key, { ...config, material: [large] })
  expect(statusOf(running)).toMatchObject({ error: { code: 'signature.material-too-large' } })
  expect(questions).toEqual([])
})

it('hands over the root itself when it is there, and judges again when it comes', async () => {
  const running = start()
  running.peer.say('signatureConfig', key, config)
  expect(questions.at(-1)!.material).toEqual([])
  await takeIn(running, Buffer.from('root'))
  expect(questions).toHaveLength(2)
  expect(questions.at(-1)!.material).toMatchObject([{ sha256: config.root, bytes: Buffer.from('root') }])
})

it('tells why something is refused, and keeps the time at which that began', async () => {
  answer = { verdict: 'refused', code: 'signature.missing', reason: 'nobody signed it' }
  const running = start()
  running.peer.say('signatureConfig', key, config)
  const first = statusOf(running)
  expect(first).toMatchObject({ verdict: 'refused', error: { code: 'signature.missing', text: 'nobody signed it' } })
  await clock.advance(1000)
  running.peer.say('signatureConfig', key, { ...config, name: 'other' })
  expect(statusOf(running)?.error?.since).toBe(first?.error?.since)
})

it('gives no verdict when judging fails', async () => {
  answer = new Error('a bug')
  const running = start()
  running.peer.say('signatureConfig', key, config)
  expect(statusOf(running)).toMatchObject({ error: { code: 'signature.judge-failed', text: 'a bug' } })
  expect(statusOf(running)).not.toHaveProperty('verdict')
})

it.each(['waiting', 'unsigned'] as const)('passes on that it is %s, which is no error', verdict => {
  answer = { verdict }
  const running = start()
  running.peer.say('signatureConfig', key, config)
  expect(statusOf(running)).toMatchObject({ verdict })
  expect(statusOf(running)).not.toHaveProperty('error')
})

it('judges again when a certificate arrives, changes or goes', async () => {
  answer = { verdict: 'waiting' }
  const running = start()
  const { peer } = running
  peer.finish('certMaterial')
  peer.say('signatureConfig', key, config)
  answer = { verdict: 'good' }
  peer.say('certMaterial', 'acme', { pem: oneCertificate })
  await peer.until(() => statusOf(running)?.verdict === 'good')
  expect(questions.at(-1)!.certificates).toEqual([{ id: 'acme', pem: oneCertificate }])
  answer = { verdict: 'waiting' }
  peer.unsay('certMaterial', 'acme')
  await peer.until(() => statusOf(running)?.verdict === 'waiting')
  expect(questions.at(-1)!.certificates).toEqual([])
})

it('judges again when the roots change, and not otherwise', async () => {
  const running = start()
  running.peer.say('signatureConfig', key, config)
  await clock.advance(120_000)
  expect(questions).toHaveLength(1)
  fs.writeFileSync(join(its.layout.trust, 'new.pem'), oneCertificate)
  answer = { verdict: 'refused', code: 'signature.invalid', reason: 'another root' }
  await clock.advance(60_000)
  expect(statusOf(running)).toMatchObject({ verdict: 'refused' })
})

it('judges again when the clock jumps', async () => {
  let jump = 0
  const jumping = { ...clock, now: () => new Date(clock.now().getTime() + jump) }
  const running = start(jumping)
  running.peer.say('signatureConfig', key, config)
  await clock.advance(60_000)
  jump = 50 * 365 * 86_400_000
  await clock.advance(60_000)
  expect(questions).toHaveLength(2)
})

it('trusts only plain files in trust/', async () => {
  fs.writeFileSync(join(its.layout.trust, 'real.pem'), oneCertificate)
  fs.symlinkSync(join(its.layout.trust, 'real.pem'), join(its.layout.trust, 'link.pem'))
  fs.mkdirSync(join(its.layout.trust, 'directory.pem'))
  fs.writeFileSync(join(its.layout.trust, 'notes.txt'), twoCertificate)
  const running = start()
  running.peer.say('signatureConfig', key, config)
  expect(questions[0]!.roots).toHaveLength(1)
  await clock.advance(180_000)
  expect(its.log.filter(line => line.includes('trust/'))).toHaveLength(2)
})

it('takes its word back with the config', () => {
  const running = start()
  running.peer.say('signatureConfig', key, config)
  running.peer.unsay('signatureConfig', key)
  expect(statusOf(running)).toBeUndefined()
})
