// Canaries for secrets: the password of a datastore, the token that a registry gives for it, the signature in an address,
// and something in the environment of whoever starts the daemon. After everything went well, and after everything failed in
// every way that an attentive server can think of, they are where they were put and nowhere else.
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Sha256 } from '../../src/content/messages.ts'
import { sha256Hex } from '../../src/lib/json.ts'
import { type ContentMachine, installCairn, type Program } from './faults-machine.ts'
import {
  answer,
  type Behaviour,
  cutAfter,
  type FaultyServer,
  otherBytes,
  serveImage,
  startServer,
} from './faults-server.ts'
import { type SecretsWatch, watchSecrets } from './secrets-watch.ts'

const secrets = {
  password: canary(),
  token: canary(),
  signature: canary(),
  environment: canary(),
}
const body = randomBytes(2 ** 20)
const digest = sha256Hex(body) as Sha256
const basic = `Basic ${Buffer.from(`ann:${secrets.password}`).toString('base64')}`

let program: Program
let registry: FaultyServer
let files: FaultyServer
let asked: { password: number; token: number; signature: number }

beforeAll(async () => {
  program = await installCairn()
  asked = { password: 0, token: 0, signature: 0 }
  registry = await startServer({
    guard: ({ url = '', headers }, response) => {
      if (url.startsWith('/token')) {
        if (headers.authorization !== basic) return Boolean(response.writeHead(401).end())
        asked.password++
        return Boolean(response.end(JSON.stringify({ token: secrets.token })))
      }
      if (headers.authorization === `Bearer ${secrets.token}`) {
        asked.token++
        return false
      }
      const realm = `Bearer realm="${registry.origin}/token",service="test"`
      return Boolean(response.writeHead(401, { 'www-authenticate': realm }).end())
    },
  })
  files = await startServer({
    guard: ({ url = '' }, response) => {
      if (!url.includes(`sig=${secrets.signature}`)) return Boolean(response.writeHead(403).end())
      asked.signature++
      return false
    },
  })
})
afterAll(async () => {
  await registry?.close()
  await files?.close()
  await program?.remove()
})

/** Runs commands on a machine with a daemon, and looks at all they say and leave. Where the canaries were found. */
async function sung(password: string, work: (told: Told) => Promise<void>) {
  const machine = program.machine()
  const watch = watchSecrets({
    secrets: { ...secrets, password },
    roots: [machine.root],
    allowed: [join(machine.root, 'etc/cairn/registry.password')],
  })
  machine.configure(
    {
      'content.quarantine.keep': 5,
      'content.attempts': 2,
      datastores: [{ host: registry.host, username: 'ann', passwordFile: 'registry.password' }],
    },
    { 'registry.password': `${password}\n` },
  )
  const daemon = await machine.daemon({ CAIRN_CANARY: secrets.environment, AWS_SECRET_ACCESS_KEY: secrets.environment })
  try {
    await work(toldBy(machine, watch))
  } finally {
    await daemon.stop()
  }
  watch.look('the log', daemon.log)
  const found = watch.end()
  expect(watch.processes.size).toBeGreaterThanOrEqual(3)
  return { found, log: daemon.log }
}

/** Looks at what a command says, and tells what it ends with; a question is asked in both forms. */
type Told = (...words: string[]) => Promise<number>

const questions: readonly string[] = ['list', 'status', 'explain', 'show']

const toldBy =
  (machine: ContentMachine, watch: SecretsWatch): Told =>
  async (...words) => {
    const { code, said } = await machine.cairn<object>(...words)
    watch.look(`what ${words[0]} ${words[1]} --json says`, JSON.stringify(said))
    if (questions.includes(words[1]!))
      watch.look(`what ${words[0]} ${words[1]} says`, (await machine.shown(...words)).text)
    return code
  }

const signed = (path: string): string => `${files.url(path)}?sig=${secrets.signature}&user=ann`

it('are in no log, status, argument, environment or file when all goes well', async () => {
  const { reference } = serveImage(registry, [body, randomBytes(1000)])
  files.put('/disk.raw', body)
  files.put('/unpinned.raw', randomBytes(1000))
  files.put('/volume.raw', body)
  const { found } = await sung(secrets.password, async told => {
    expect(await told('content', 'pull', reference)).toBe(0)
    expect(await told('content', 'pull', signed('/disk.raw'), '--digest', digest)).toBe(0)
    expect(await told('content', 'pull', signed('/unpinned.raw'))).toBe(0)
    expect(await told('volume', 'create', 'web', '--from', signed('/volume.raw'), '--digest', digest)).toBe(0)
    for (const question of ['content list', 'content status', 'content verify', 'content gc --dry-run', 'volume list'])
      expect(await told(...question.split(' '))).toBe(0)
    expect(await told('content', 'explain', files.url('/disk.raw'))).toBe(0)
    expect(await told('volume', 'show', 'web')).toBe(0)
    expect(await told('volume', 'purge', 'web')).toBe(0)
  })
  expect(found).toEqual([])
  expect(Object.values(asked).every(count => count > 0)).toBe(true)
})

it('are in no log, status, argument, environment or file when everything fails', async () => {
  const gone = await startServer()
  await gone.close()
  const echo = `text/plain; token=${secrets.token}; ${secrets.password}`
  const fails = (path: string, behaviour: Behaviour) => files.put(path, body, ...Array<Behaviour>(12).fill(behaviour))
  fails('/error', answer(500, { 'content-type': echo, 'x-signature': secrets.signature }, secrets.signature))
  fails('/elsewhere', answer(302, { location: `${gone.url('/x')}?sig=${secrets.signature}` }))
  fails('/nowhere', answer(302, { location: `ftp://127.0.0.1/x?sig=${secrets.signature}` }))
  fails('/other', otherBytes(randomBytes(1000)))
  fails('/cut', cutAfter(0))
  fails('/log-in', answer(401, { 'www-authenticate': `Bearer realm="http://192.0.2.1/t?sig=${secrets.signature}"` }))
  const paths = ['/error', '/elsewhere', '/nowhere', '/other', '/cut', '/log-in', '/not-there']
  const { reference } = serveImage(
    registry,
    [randomBytes(1000)],
    Array<Behaviour>(12).fill(answer(500, { 'content-type': echo })),
  )
  const { found, log } = await sung(secrets.password, async told => {
    const pulls = paths.map(path => told('content', 'pull', signed(path), '--digest', digest))
    const volume = told('volume', 'create', 'web', '--from', signed('/other'), '--digest', digest)
    const unreachable = told('content', 'pull', `${gone.url('/x')}?sig=${secrets.signature}`)
    expect(await Promise.all([...pulls, volume, unreachable, told('content', 'pull', reference)])).toEqual(
      Array(paths.length + 3).fill(1),
    )
    expect(await told('content', 'pull', `http://ann:${secrets.password}@${files.host}/x`)).toBe(3)
    expect(await told('content', 'list')).toBe(0)
  })
  expect(found).toEqual([])
  expect(log).toContain('failed')
})

it('are not told to somebody who has the wrong password, nor is that one', async () => {
  const { reference } = serveImage(registry, [body])
  const wrong = canary()
  const { found } = await sung(wrong, async told => {
    expect(await told('content', 'pull', reference)).toBe(1)
  })
  expect(found).toEqual([])
})

it('are not told where they stand in settings that are wrong', async () => {
  const machine = program.machine()
  const { password } = secrets
  machine.configure({
    datastores: [
      { host: 5, username: 'ann', password },
      { host: 'x', password: [password], oops: password },
    ],
  })
  const { code, said } = await machine.cairn<object>('content', 'list')
  expect(code).toBe(3)
  expect(JSON.stringify(said)).not.toContain(password)
  expect((await machine.shown('content', 'list', '--debug')).text).not.toContain(password)
})

function canary(): string {
  return `canary${randomBytes(12).toString('hex')}`
}
