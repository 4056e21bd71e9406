// The units of packaging/ on a booted machine: four units, the walls that each of them claims, and their ends and returns.
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  type ContentStatus,
  type Isolation,
  type ProcessName,
  processNames,
  type VolumeStatus,
} from '../../src/content/messages.ts'
import { sha256Hex } from '../../src/lib/json.ts'
import { findProgram } from '../../src/lib/run.ts'
import { writeImage } from '../../src/volumes/container/images.fake.ts'
import { bootMachine, type Machine } from '../machine/machine.ts'
import { describeWith, machineComponents } from '../require.ts'

const packaging = join(import.meta.dirname, '../../packaging')
const unitFiles = readdirSync(join(packaging, 'systemd'))
/** Not on the machine's own disk: that is an overlay, on which another one cannot lie. */
const containerdConfig = `version = 2
root = "/run/containerd-root"
disabled_plugins = ["io.containerd.grpc.v1.cri"]
`
const containerdUnit = '[Service]\nType=notify\nExecStart=containerd\n[Install]\nWantedBy=multi-user.target\n'
const node = `/opt/cairn/node_modules/node-linux-${process.arch}/bin/node`
const dialScript = `require('net').connect(process.argv[1], () => process.exit(0)).on('error', () => process.exit(1))`
const unitOf = (name: ProcessName) => `cairn-${name}.service`

describeWith([...machineComponents, 'containerd'], 'the content processes as units of systemd', () => {
  let machine: Machine
  let server: SlowServer
  let image: string

  beforeAll(async () => {
    image = mkdtempSync(join(tmpdir(), 'cairn-image-'))
    chmodSync(image, 0o755)
    writeImage(image, { layers: [{ tar: [{ name: 'hello', content: 'from the image' }] }] })
    server = await startServer()
    const binds = [
      { from: image, to: '/srv/image' },
      { from: findProgram('containerd')!, to: '/usr/local/bin/containerd' },
    ]
    machine = await bootMachine({ name: 'quarry', binds })
    for (const name of unitFiles)
      await machine.writeFile(`/etc/systemd/system/${name}`, readFileSync(join(packaging, 'systemd', name)))
    await machine.writeFile('/etc/sysusers.d/cairn.conf', readFileSync(join(packaging, 'sysusers.d/cairn.conf')))
    await says('ln', '-s', '/opt/cairn/bin/cairn', '/usr/local/bin/cairn')
    await says('systemd-sysusers')
    await machine.writeFile('/etc/containerd/config.toml', containerdConfig)
    await machine.writeFile('/etc/systemd/system/containerd.service', containerdUnit)
    await says('systemctl', 'daemon-reload')
    await says('systemctl', 'enable', '--now', 'containerd.service', 'cairn-content.service')
  })
  afterAll(async () => {
    server?.close()
    await machine?.destroy()
    rmSync(image, { recursive: true })
  })

  const says = async (...command: string[]): Promise<string> => {
    const { code, stdout, stderr } = await machine.exec(command)
    if (code !== 0) throw new Error(`${command.join(' ')} ended with ${code}:\n${stdout}${stderr}\n${await journal()}`)
    return stdout.trim()
  }
  const journal = async () => (await machine.exec(['journalctl', '--no-pager', '--lines=60', '--unit=cairn-*'])).stdout
  const cairn = async <Said>(...words: string[]): Promise<Said> =>
    JSON.parse(await says('cairn', 'content', ...words, '--json'))
  const processes = async (): Promise<Record<ProcessName, Isolation>> => {
    const { processes: all } = await cairn<{ processes: Isolation[] }>('status')
    return Object.fromEntries(all.map(one => [one.process, one])) as Record<ProcessName, Isolation>
  }
  const listed = async () => (await cairn<{ content: ContentStatus[] }>('list')).content
  const pull = ({ url, sha256 }: Served) => cairn<ContentStatus>('pull', url, '--digest', sha256)
  const stateOf = async (unit: string) => (await machine.exec(['systemctl', 'is-active', unit])).stdout.trim()
  const pidOf = async (name: ProcessName) => says('pgrep', '--full', `content-process ${name}`)
  /** How a program ends in some of the namespaces of a process. */
  const within = async (name: ProcessName, namespaces: string, ...command: string[]) =>
    (await machine.exec(['nsenter', '-t', await pidOf(name), namespaces, '--', ...command])).code
  const until = async (what: string, holds: () => Promise<boolean>) => {
    for (const deadline = Date.now() + 30_000; !(await holds()); await delay(100))
      if (Date.now() > deadline)
        throw new Error(`after half a minute it does not hold that ${what}\n${await journal()}`)
  }

  it('have units that systemd understands, and that shut out what they claim to', async () => {
    expect(await machine.exec(['systemd-analyze', 'verify', ...unitFiles])).toEqual({ code: 0, stdout: '', stderr: '' })
    // Of 100, as systemd counts. The supervisor mounts for everybody, which costs it all walls around its file system.
    const most = { 'cairn-verifier': 12, 'cairn-manager': 17, 'cairn-downloader': 18, 'cairn-content': 47 }
    for (const [unit, threshold] of Object.entries(most))
      await says('systemd-analyze', 'security', '--no-pager', `--threshold=${threshold}`, `${unit}.service`)
  })

  it('prove their walls', async () => {
    const denied = ['ERR_ACCESS_DENIED', 'ERR_ACCESS_DENIED']
    const walls = { permission: true, insecure: false, health: 'running' }
    expect(await processes()).toMatchObject({
      downloader: { ...walls, ownUid: true, netns: false, checked: false },
      verifier: { ...walls, ownUid: false, netns: true, checked: true, proof: denied },
      manager: { ...walls, ownUid: false, netns: true, checked: true, proof: denied },
    })
  })

  it('bring content from a server through a downloader of its own user to files that are root’s', async () => {
    const served = server.serve('first')
    const { state, sha256, blobs } = await pull(served)
    expect({ state, sha256 }).toEqual({ state: 'verified', sha256: served.sha256 })
    expect(await says('stat', '--format=%U %a', blobs[0]!.path!)).toBe('root 400')
    expect(await says('stat', '--format=%U %a', '/cairn/content/pending')).toBe('cairn-downloader 700')
  })

  it('keep the verifier and the manager from the server, and the downloader from verified/', async () => {
    const { port } = server
    const connect = ['bash', '-c', `exec 3<>/dev/tcp/127.0.0.1/${port}`]
    expect(await within('downloader', '-n', ...connect)).toBe(0)
    expect(await within('verifier', '-n', ...connect)).toBe(1)
    expect(await within('manager', '-n', ...connect)).toBe(1)

    const asDownloader = ['setpriv', '--reuid=cairn-downloader', '--regid=cairn-downloader', '--clear-groups']
    const write = (directory: string) => [
      'sh',
      '-c',
      `: > /cairn/content/${directory}/.try && rm /cairn/content/${directory}/.try`,
    ]
    expect(await within('downloader', '-m', ...asDownloader, ...write('pending'))).toBe(0)
    expect(await within('downloader', '-m', ...asDownloader, ...write('verified'))).not.toBe(0)
    expect(await within('downloader', '-m', ...write('verified'))).not.toBe(0)
    expect((await machine.exec([...asDownloader, ...write('verified')])).code).not.toBe(0)
    const dial = (name: string) => [node, '--eval', dialScript, `/run/cairn/${name}.sock`]
    expect(await within('downloader', '-m', ...dial('agent'))).toBe(0)
    for (const name of ['agent', 'downloader', 'manager']) expect(await within('verifier', '-m', ...dial(name))).toBe(1)
    for (const name of ['agent', 'downloader', 'verifier']) expect(await within('manager', '-m', ...dial(name))).toBe(1)
    expect(await within('verifier', '-m', ...write('verified'))).toBe(0)
    expect(await within('verifier', '-m', ...write('pending'))).not.toBe(0)
  })

  it('verify nothing in pending/ that is not the downloader’s', async () => {
    const { requests } = server
    const served = server.serve('replaced')
    await says('systemctl', 'stop', unitOf('verifier'))
    const pulling = pull(served)
    try {
      const whole = ['find', '/cairn/content/pending', '-size', `${served.size}c`]
      await until('all of it is pending', async () => (await says(...whole)) !== '')
      await says('find', '/cairn/content/pending', '-type', 'f', '-exec', 'chown', 'root', '{}', '+')
    } finally {
      await says('systemctl', 'start', unitOf('verifier'))
    }
    expect(await pulling).toMatchObject({ state: 'verified' })
    expect(server.requests).toBeGreaterThan(requests + 1)
  })

  it('make volumes that everybody sees, of containerd’s too', async () => {
    const volume = async (...words: string[]): Promise<VolumeStatus> =>
      JSON.parse(await says('cairn', 'volume', 'create', ...words, '--json'))
    const disk = await volume('disk', '--from', 'blank', '--size', '8MiB', '--file-system', 'ext4')
    expect(await says('stat', '--format=%s', disk.path!)).toBe(String(8 * 2 ** 20))
    const { url, sha256, size } = server.serve('first')
    const copy = await volume('copy', '--from', url, '--digest', sha256, '--size', '4MiB')
    expect(await says('head', '--bytes=9', copy.path!)).toBe('firstfirs')
    expect(size).toBeLessThan(4 * 2 ** 20)

    const app = await volume('app', '--kind', 'container', '--from', 'oci-layout:/srv/image:latest')
    const rootfs = `${app.path}/rootfs`
    expect(await says('findmnt', '--noheadings', '--output=FSTYPE', rootfs)).toBe('overlay')
    expect(await says('cat', `${rootfs}/hello`)).toBe('from the image')
    expect(await within('manager', '-m', 'test', '-f', `${rootfs}/hello`)).toBe(0)
    await says('cairn', 'volume', 'rm', 'app', '--allow-data-loss')
    expect((await machine.exec(['findmnt', rootfs])).code).toBe(1)
  })

  it.each(processNames)('go on when the %s is killed in the middle', async name => {
    const served = server.serve(`killed ${name}`, { slow: true })
    const { starts } = (await processes())[name]
    const pulling = pull(served)
    await served.asked
    await says('systemctl', 'kill', '--signal=KILL', unitOf(name))
    await until(`the ${name} is back`, async () => (await processes())[name].starts > starts)
    served.goOn()
    expect(await pulling).toMatchObject({ state: 'verified', sha256: served.sha256 })
  })

  it('come back when the supervisor is killed, while whoever asked does its work', async () => {
    const served = server.serve('killed supervisor', { slow: true })
    const pulling = pull(served)
    await served.asked
    await says('systemctl', 'kill', '--signal=KILL', 'cairn-content.service')
    const isBack = async () => (await Promise.all(unitFiles.map(stateOf))).every(state => state === 'active')
    await until('all units have gone', async () => !(await isBack()))
    await until('all units are back', isBack)
    served.goOn()
    expect(await pulling).toMatchObject({ state: 'verified' })
    expect(await processes()).toMatchObject({ verifier: { netns: true, starts: 1 }, downloader: { ownUid: true } })
    expect(await pull(server.serve('after the supervisor'))).toMatchObject({ state: 'verified' })
  })

  it('all stop with the supervisor, and are back after a reboot with what was asked for', async () => {
    const kept = (await listed()).map(({ sha256 }) => sha256).sort()
    expect(kept.length).toBeGreaterThan(4)
    await says('systemctl', 'stop', 'cairn-content.service')
    expect(await Promise.all(unitFiles.map(stateOf))).toEqual(unitFiles.map(() => 'inactive'))
    expect((await machine.exec(['pgrep', '--full', 'content-process'])).stdout).toBe('')

    const { requests } = server
    await machine.reboot()
    expect(await Promise.all(unitFiles.map(stateOf))).toEqual(unitFiles.map(() => 'active'))
    const back = await listed()
    expect(back.map(({ sha256 }) => sha256).sort()).toEqual(kept)
    expect(back.every(({ state }) => state === 'verified')).toBe(true)
    expect(server.requests).toBe(requests)
    expect((await processes()).verifier).toMatchObject({ netns: true, checked: true, starts: 1 })
  })
})

interface Served {
  readonly url: string
  readonly sha256: string
  readonly size: number
  /** Somebody has half of it. */
  readonly asked: Promise<void>
  goOn(): void
}

interface SlowServer {
  readonly port: number
  readonly requests: number
  /** A slow one is held back in the middle until it is told to go on. */
  serve(name: string, options?: { slow: boolean }): Served
  close(): void
}

async function startServer(): Promise<SlowServer> {
  const bodies = new Map<
    string,
    { body: Buffer; half: PromiseWithResolvers<void>; asked: PromiseWithResolvers<void> }
  >()
  let requests = 0
  const server: Server = createServer(async ({ url = '', headers }, response) => {
    requests++
    const { body, half, asked } = bodies.get(url)!
    const from = Number(/^bytes=(\d+)-/.exec(headers.range ?? '')?.[1] ?? 0)
    const etag = `"${url}"`
    if (from === 0) response.writeHead(200, { 'content-length': body.length, 'accept-ranges': 'bytes', etag })
    else
      response.writeHead(206, {
        'content-length': body.length - from,
        'content-range': `bytes ${from}-${body.length - 1}/${body.length}`,
        etag,
      })
    response.write(body.subarray(from, Math.max(from, body.length / 2)))
    asked.resolve()
    await half.promise
    response.end(body.subarray(Math.max(from, body.length / 2)))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    port,
    get requests() {
      return requests
    },
    serve(name, { slow } = { slow: false }) {
      const body = Buffer.alloc(1 << 20, name)
      const [half, asked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      const path = `/${encodeURIComponent(name)}`
      bodies.set(path, { body, half, asked })
      if (!slow) half.resolve()
      return {
        url: `http://127.0.0.1:${port}${path}`,
        sha256: sha256Hex(body),
        size: body.length,
        asked: asked.promise,
        goOn: half.resolve,
      }
    },
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}
