// What a start makes of what it finds.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { VerifierSettings, VerifyStatus } from '../messages.ts'
import { steppedClock } from '../pubsub/stepped-clock.fake.ts'
import { type Bulk, realBulk } from './bulk.ts'
import { verifiedNameOf } from './names.ts'
import { fakePeer } from './peer.fake.ts'
import { type Bench, bench, octets, type RunningVerifier, type StartOptions, shaOf } from './verifier.fake.ts'

let its: Bench
beforeEach(() => {
  its = bench()
})
afterEach(() => its.remove())

const text = Buffer.from('the bytes of a blob')
const name = verifiedNameOf({ sha256: shaOf(text), mediaType: octets })
const path = () => join(its.layout.verified, name)
const isVerified = ({ state }: VerifyStatus) => state === 'verified'
const complete = ({ peer }: RunningVerifier) => peer.until(() => peer.hasCompleted('verifyStatus'))

/** Counts the bytes that are read, so that a test sees what was hashed. */
function counting() {
  const read = { bytes: 0 }
  const bulk: Bulk = {
    ...realBulk,
    read: async (fd, into) => {
      const count = await realBulk.read(fd, into)
      read.bytes += count
      return count
    },
  }
  return { read, bulk }
}

function start(rehash: VerifierSettings['rehash'] | null, options: StartOptions = {}) {
  const peer = fakePeer()
  if (rehash) peer.say('verifierSettings', '', { rehash, quarantine: 0 })
  return its.start({ peer, clock: steppedClock(), ...options })
}

/** A file that a verifier has hashed, and its line in the ledger. */
async function takeIn() {
  its.place(name, text)
  fs.utimesSync(path(), 1, 1)
  const running = start(null)
  await complete(running)
  await running.stop()
}

function setCheckedAt(time: Date) {
  const ledger = join(its.layout.verifier, 'ledger.json')
  const { version, files } = JSON.parse(fs.readFileSync(ledger, 'utf8'))
  const changed = { version, files: { [name]: { ...files[name], checkedAt: time.toISOString() } } }
  fs.writeFileSync(ledger, JSON.stringify(changed))
}

/** Same size, same inode, same time: only hashing finds it. */
function rotSilently() {
  fs.chmodSync(path(), 0o600)
  fs.writeFileSync(path(), Buffer.alloc(text.length, 'r'))
  fs.chmodSync(path(), 0o400)
  fs.utimesSync(path(), 1, 1)
}

describe('the workshop', () => {
  it('is emptied of copies and half-made files, and of nothing else', async () => {
    fs.mkdirSync(its.layout.verifier)
    for (const litter of [`0123456789ab.${name}`, '.ledger.json.tmp-0123456789ab', 'notes.txt'])
      fs.writeFileSync(join(its.layout.verifier, litter), 'x')
    await complete(start(null))
    expect(its.names(its.layout.verifier)).toEqual(['notes.txt'])
  })
})

describe('a verified file', () => {
  it('is told with its type before anyone asks, and the set is complete only then', async () => {
    its.place(name, text)
    const running = start(null)
    await complete(running)
    expect([...running.peer.said('verifyStatus')]).toMatchObject([
      [shaOf(text), { state: 'verified', mediaType: octets, path: path(), size: text.length, expired: false }],
    ])
    running.peer.say('verifyConfig', shaOf(text), {
      mediaType: octets,
      size: text.length,
      refs: 0,
      expired: false,
      attempt: 0,
    })
    expect(its.verified()).toEqual({ [name]: shaOf(text) })
  })

  it('with a name that nobody can read is told in the log, not used and never removed', async () => {
    its.place('holiday.jpg', text)
    its.place(shaOf(text), text)
    fs.symlinkSync('/etc/passwd', path())
    fs.mkdirSync(join(its.layout.verified, 'lost+found'))
    const running = start(null)
    await complete(running)
    expect(running.peer.said('verifyStatus').size).toBe(0)
    expect(its.names(its.layout.verified)).toEqual([shaOf(text), name, 'holiday.jpg', 'lost+found'].sort())
    expect(its.log.filter(line => line.includes('it stays'))).toHaveLength(4)
  })

  it('that is not what its name says is removed and told, so that it is fetched again', async () => {
    its.place(name, Buffer.from('other bytes'))
    const running = start(null)
    await complete(running)
    expect(running.peer.said('verifyStatus').get(shaOf(text))).toMatchObject({
      state: 'initial',
      error: { code: 'content.bit-rot', severity: 'error' },
    })
    expect(its.verified()).toEqual({})
    expect(its.log.join()).toContain(shaOf(text))

    const { config } = its.download(text, { attempt: 1 })
    running.peer.say('verifyConfig', shaOf(text), config)
    await running.status(shaOf(text), isVerified)
  })

  it('is never used before it was hashed, also when it is asked for at once', async () => {
    its.place(name, Buffer.from('other bytes'))
    const peer = fakePeer()
    const { config } = its.download(text)
    peer.say('verifyConfig', shaOf(text), config)
    const running = its.start({ peer })
    await running.status(shaOf(text), isVerified)
    expect(peer.history('verifyStatus', shaOf(text))[0]).not.toMatchObject({ state: 'verified' })
    expect(its.verified()).toEqual({ [name]: shaOf(text) })
  })
})

describe('hashing again', () => {
  it('is left out for a file that looks as it did, after a stop in good order', async () => {
    await takeIn()
    const { read, bulk } = counting()
    await complete(start('changed', { bulk }))
    expect(read.bytes).toBe(0)
  })

  it.each([
    ['its time', () => fs.utimesSync(path(), 2, 2)],
    ['its size', () => fs.truncateSync(path(), 3)],
    [
      'its inode',
      () => {
        fs.copyFileSync(path(), join(its.layout.verified, 'copy'))
        fs.renameSync(join(its.layout.verified, 'copy'), path())
        fs.utimesSync(path(), 1, 1)
      },
    ],
    ['the ledger', () => fs.writeFileSync(join(its.layout.verifier, 'ledger.json'), '{"version":1,')],
  ])('is done for a file when %s changed', async (what, change) => {
    await takeIn()
    fs.chmodSync(path(), 0o600)
    change()
    const { read, bulk } = counting()
    const running = start('changed', { bulk })
    await complete(running)
    expect(read.bytes).toBeGreaterThan(0)
    const status = running.peer.said('verifyStatus').get(shaOf(text))
    expect(status?.state).toBe(what === 'its size' ? 'initial' : 'verified')
  })

  it('finds silent rot when all is hashed, and not when nothing is', async () => {
    await takeIn()
    rotSilently()
    for (const [rehash, state] of [
      ['off', 'verified'],
      ['changed', 'verified'],
      ['full', 'initial'],
    ] as const) {
      const running = start(rehash)
      await complete(running)
      expect(running.peer.said('verifyStatus').get(shaOf(text))?.state).toBe(state)
      await running.stop()
    }
  })

  it('comes round every week, in a running process too', async () => {
    await takeIn()
    rotSilently()
    const clock = steppedClock()
    setCheckedAt(new Date(clock.now().getTime() - 7 * 86_400_000 + 90_000))
    const running = start('changed', { clock })
    await complete(running)
    await clock.advance(60_000)
    expect(running.peer.said('verifyStatus').get(shaOf(text))?.state).toBe('verified')
    await clock.advance(60_000)
    const status = await running.status(shaOf(text), ({ error }) => error !== undefined)
    expect(status.error?.code).toBe('content.bit-rot')
    expect(its.verified()).toEqual({})
  })

  it('does not trust a file because it was taken in while nothing was hashed', async () => {
    its.place(name, Buffer.from('other bytes'))
    const first = start('off')
    await complete(first)
    await first.stop()
    const running = start('changed')
    await complete(running)
    expect(running.peer.said('verifyStatus').get(shaOf(text))?.error?.code).toBe('content.bit-rot')
  })
})

describe('a blob on which the verifier dies', () => {
  /** The mark of work under way stays, as it does after a kill. */
  const die = (deaths: number) =>
    fs.writeFileSync(join(its.layout.verifier, `working.${shaOf(text)}.${deaths - 1}`), 'boot')

  it('is tried again twice, and left alone after the third time while others go on', async () => {
    fs.mkdirSync(its.layout.verifier)
    for (const deaths of [1, 2, 3]) {
      die(deaths)
      const clock = steppedClock()
      const running = start(null, { clock })
      const { sha256, config } = its.download(text)
      const other = its.download(Buffer.from(`other ${deaths}`))
      running.peer.say('verifyConfig', sha256, config)
      running.peer.say('verifyConfig', other.sha256, other.config)
      await running.status(other.sha256, isVerified)
      if (deaths < 3) await running.status(sha256, isVerified)
      else {
        const status = await running.status(sha256, ({ error }) => error !== undefined)
        expect(status).toMatchObject({ state: 'initial', error: { code: 'content.verify-crash', severity: 'error' } })
        // A new download is another chance.
        running.peer.say('verifyConfig', sha256, { ...config, attempt: 1 })
        await running.status(sha256, isVerified)
      }
      await running.stop()
      fs.rmSync(path())
      expect(its.names(its.layout.verifier)).toEqual(['ledger.json'])
    }
  })

  it('is tried again after an hour', async () => {
    fs.mkdirSync(its.layout.verifier)
    die(3)
    const clock = steppedClock()
    const running = start(null, { clock })
    const { sha256, config } = its.download(text)
    running.peer.say('verifyConfig', sha256, config)
    await running.status(sha256, ({ error }) => error?.code === 'content.verify-crash')
    await clock.advance(3_600_000)
    await running.status(sha256, isVerified)
  })

  it('does not keep the start from being complete when it lies in verified/', async () => {
    fs.mkdirSync(its.layout.verifier)
    die(3)
    its.place(name, text)
    const running = start(null)
    await complete(running)
    expect(running.peer.said('verifyStatus').get(shaOf(text))?.error?.code).toBe('content.verify-crash')
    expect(its.verified()).toEqual({ [name]: shaOf(text) })
  })

  it('is hashed again when the death came while it was being looked at', async () => {
    await takeIn()
    rotSilently()
    die(1)
    const running = start('changed')
    await complete(running)
    expect(running.peer.said('verifyStatus').get(shaOf(text))?.error?.code).toBe('content.bit-rot')
  })
})

it('ends soon when it is told to, in the middle of the work, and leaves nothing half-made', async () => {
  const running = its.start()
  const bytes = Buffer.alloc(16 * 2 ** 20, 'x')
  const { sha256, config } = its.download(bytes)
  running.peer.say('verifyConfig', sha256, config)
  await running.status(sha256, ({ currentSize }) => currentSize > 0)
  await running.stop()
  expect(its.verified()).toEqual({})
  expect(its.names(its.layout.verifier)).toEqual([])
})
