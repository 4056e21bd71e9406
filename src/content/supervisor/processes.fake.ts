// Tiny content processes, and a supervisor to be killed: started as programs by supervisor.test.ts. Each process tries what it
// must not be able to do, and says in its log how that ended.
import { lookup } from 'node:dns/promises'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { realClock } from '../../lib/clock.ts'
import { contentLayoutOf } from '../layout.ts'
import type { ManagerContext } from '../process/calls.ts'
import type { ProcessContext } from '../process/context.ts'
import { runProcess } from '../process/run-process.ts'
import { aVerifyStatus } from '../pubsub/pubsub.fake.ts'
import { startSupervisor } from './supervisor.ts'

type Attempts = Readonly<Record<string, () => unknown>>

const [mode, what = ''] = process.argv.slice(2)
if (mode === '--supervise') {
  await startSupervisor({
    layout: contentLayoutOf({ base: what, run: join(what, 'run') }),
    self: [process.execPath, process.argv[1]!],
    clock: realClock,
    log: line => console.log(line),
  })
} else if (what === 'downloader') await runProcess('downloader', downloader)
else if (what === 'verifier') await runProcess('verifier', verifier)
else if (what === 'manager') await runProcess('manager', manager)

async function downloader(context: ProcessContext) {
  const { layout } = context
  await attempt(context, {
    'write pending': () => writeFileSync(join(layout.pending, 'd'), 'x'),
    'write verified': () => writeFileSync(join(layout.verified, 'd'), 'x'),
    'read elsewhere': () => readFileSync('/etc/hostname'),
    'ask for mkfs': () => (context as ManagerContext).calls.mkfs(join(layout.volumes, 'x'), 'ext4'),
  })
  await ended(context)
}

async function verifier(context: ProcessContext) {
  const { layout, durability, peer } = context
  const path = (name: string) => join(layout.verifier, name)
  writeFileSync(path('file'), 'x')
  await attempt(context, {
    connect: () => connected({ host: '127.0.0.1', port: 9 }),
    'connect to a socket file': () => connected({ path: join(layout.run, 'agent.sock') }),
    listen: () => listening({ host: '127.0.0.1', port: 0 }),
    'listen on a socket file': () => listening({ path: path('s') }),
    resolve: () => lookup('localhost'),
    'write pending': () => writeFileSync(join(layout.pending, 'v'), 'x'),
    'write volumes': () => writeFileSync(join(layout.volumes, 'v'), 'x'),
    'read elsewhere': () => readFileSync('/etc/hostname'),
    'read pending': () => readdirSync(layout.pending),
    'see secrets': () => process.env.CAIRN_TEST_SECRET ?? 'none',
    'sync a file': () => durability.sync(layout.verifier, ['file']),
    'sync a directory': () => durability.sync(layout.verifier, []),
    'sync a link': () => durability.sync(layout.verifier, ['link']),
    'sync a way out': () => durability.sync(layout.verifier, ['../pending']),
    'sync elsewhere': () => durability.sync(layout.pending, []),
    'sync what is not there': () => durability.sync(layout.verifier, ['missing']),
  })
  peer.publish('verifyStatus', `life-${process.pid}`, aVerifyStatus({ size: process.pid }))
  peer.complete('verifyStatus')
  await ended(context)
}

async function manager(context: ManagerContext) {
  const { layout, calls } = context
  const path = (name: string) => join(layout.volumes, name)
  writeFileSync(path('disk'), Buffer.alloc(2 ** 20))
  mkdirSync(path('box'), { recursive: true })
  const mountOf = (source: string) => [{ type: 'bind', source, options: ['rbind', 'rw'] }]
  await attempt(context, {
    connect: () => connected({ host: '127.0.0.1', port: 9 }),
    'read verified': () => readdirSync(layout.verified),
    'write verified': () => writeFileSync(join(layout.verified, 'm'), 'x'),
    symlink: async () => {
      await calls.symlink([{ path: path('box/link'), text: '/etc' }])
      await calls.symlink([{ path: path('box/link/evil'), text: 'x' }])
    },
    mkfs: () => calls.mkfs(path('disk'), 'ext4'),
    'mkfs elsewhere': () => calls.mkfs(join(layout.verified, 'disk'), 'ext4'),
    "mount what is not the runtime's": () => calls.mount(mountOf('/etc'), path('box')),
    'unmount nothing': () => calls.unmount(path('box')),
    'flush the file system': () => calls.syncFileSystem(path('box')),
    runtime: async () => (await firstBytes(await calls.connectRuntime())) ?? 'null',
  })
  await ended(context)
}

async function attempt({ log }: ProcessContext, attempts: Attempts) {
  for (const [name, act] of Object.entries(attempts)) {
    try {
      const result = await act()
      log(`${name}: ${typeof result === 'string' ? result : 'done'}`)
    } catch (error) {
      log(`${name}: ${error instanceof Error && 'code' in error ? error.code : error}`)
    }
  }
  log('tried all')
}

function ended({ signal }: ProcessContext) {
  return new Promise<void>(done => (signal.aborted ? done() : signal.addEventListener('abort', () => done())))
}

function connected(to: { host: string; port: number } | { path: string }) {
  return new Promise<void>((done, reject) => connect(to as { path: string }, done).on('error', reject))
}

/** Node throws where nobody can catch it when it may not listen. */
function listening(at: { host: string; port: number } | { path: string }) {
  return new Promise<void>((done, reject) => {
    process.once('uncaughtException', reject)
    createServer().on('error', reject).listen(at, done)
  }).finally(() => process.removeAllListeners('uncaughtException'))
}

function firstBytes(socket: Socket | null) {
  return socket && new Promise<string>(done => socket.once('data', bytes => done(bytes.toString())))
}
