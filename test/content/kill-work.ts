// What a machine is asked for while its processes are killed: files, an image, and a volume of each kind, from one server
// that lets the bytes out as slowly as the test wants, for each machine by itself.
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { contentIdOf, contentRefOf } from '../../src/content/content-ref.ts'
import type { ContentConfig, Sha256, VolumeConfig } from '../../src/content/messages.ts'
import type { Peer } from '../../src/content/pubsub/peer.ts'
import { connectTo } from '../../src/content/supervisor/connect.ts'
import { sha256Hex } from '../../src/lib/json.ts'
import { volumeKey } from '../../src/volumes/names.ts'
import { type VolumeRequest, volumeConfigOf } from '../../src/volumes/request.ts'
import { type ContentMachine, namesIn, until } from './faults-machine.ts'
import { type Behaviour, startServer } from './faults-server.ts'
import { makeImage, ownPlatform, randomLayer } from './image.ts'

const mib = 2 ** 20

export interface Work {
  /** The machine is one that the server knows under this name, with a gate that is shut. */
  join(machine: ContentMachine, name: string): Gate
  close(): Promise<void>
}

export interface Gate {
  /** Lets this share of everything out, from 0 to 1: the parts one after another. */
  open(share: number): void
  /** How often each blob was asked for, by its digest. */
  readonly asked: ReadonlyMap<Sha256, number>
  /** What was asked for although it was verified here. */
  readonly needless: readonly string[]
  /** Asks for all of it, and has it kept. */
  ask(): Promise<void>
  /** Resolves when all of it is there and nothing more is being done. */
  done(): Promise<void>
}

interface Part {
  readonly path: string
  readonly sha256: Sha256
  readonly size: number
}

interface Guest {
  readonly machine: ContentMachine
  readonly asked: Map<Sha256, number>
  readonly needless: string[]
  share: number
}

export async function serveWork(): Promise<Work> {
  const guests = new Map<string, Guest>()
  const server = await startServer({
    guard: ({ headers }, response) => !guests.has(userOf(headers.authorization)) && wantsUser(response),
    otherwise: exchange => slowly(guests.get(userOf(exchange.request.headers.authorization))!, parts)(exchange),
  })
  const parts: Part[] = []
  const put = (path: string, body: Buffer, type = 'application/octet-stream') => {
    const sha256 = server.putTyped(path, body, {
      'content-type': type,
      'docker-content-digest': `sha256:${sha256Hex(body)}`,
    })
    parts.push({ path, sha256, size: body.length })
    return sha256
  }
  const image = await makeImage({
    platforms: { [ownPlatform]: [1, 2, 3].map(seed => randomLayer({ seed, bytes: 3 * mib, files: 60 })) },
    config: { Cmd: ['/bin/true'] },
  })
  const [config, ...layers] = image.parts[ownPlatform]!
  const putBlob = (sha256: Sha256 | undefined) => put(`/v2/app/blobs/sha256:${sha256}`, image.blobs.get(sha256!)!)
  const [manifest] = image.manifests

  // In the order in which they come out.
  const disk = put('/disk.raw', randomBytes(10, 12 * mib))
  put(`/v2/app/manifests/sha256:${image.index.sha256}`, image.index.body, image.index.mediaType)
  put(`/v2/app/manifests/sha256:${manifest!.sha256}`, manifest!.body, manifest!.mediaType)
  putBlob(config)
  putBlob(layers[0])
  const large = put('/large', randomBytes(11, 24 * mib))
  putBlob(layers[1])
  put('/unpinned', randomBytes(12, 8 * mib))
  putBlob(layers[2])
  // By its tag it is only asked about.
  server.putTyped('/v2/app/manifests/v1', image.index.body, {
    'content-type': image.index.mediaType,
    'docker-content-digest': `sha256:${image.index.sha256}`,
  })

  const contents = [
    contentOf(`${server.host}/app:v1`),
    contentOf(server.url('/large'), large),
    contentOf(server.url('/unpinned')),
  ]
  const volumes = [
    volumeOf({ name: 'disk', from: server.url('/disk.raw'), sha256: disk, size: 20 * mib }),
    volumeOf({ name: 'container', from: `${server.host}/app:v1`, kind: 'container' }),
    volumeOf({ name: 'blank', from: 'blank', size: 16 * mib }),
    volumeOf({ name: 'seed', from: 'cloud-init', cloudInit: { userData: '#cloud-config\n' } }),
  ]

  return {
    join(machine, name) {
      machine.configure({
        'content.atOnce': 16,
        'content.perHost': 16,
        'content.reserve': false,
        datastores: [{ host: server.host, username: name, password: 'of a test' }],
      })
      const guest: Guest = { machine, asked: new Map(), needless: [], share: 0 }
      guests.set(name, guest)
      return {
        asked: guest.asked,
        needless: guest.needless,
        open: share => {
          guest.share = share
        },
        ask: () => askFor(machine, contents, volumes),
        done: () => allThere(machine, contents, volumes),
      }
    },
    close: () => server.close(),
  }
}

/** Part n of N comes out while the share goes from n/N to (n + 1)/N. */
const slowly =
  (guest: Guest, parts: readonly Part[]): Behaviour =>
  async ({ request, response, body, headers, from, to, send }) => {
    const index = parts.findIndex(({ path }) => path === request.url)
    const { sha256 } = parts[index]!
    guest.asked.set(sha256, (guest.asked.get(sha256) ?? 0) + 1)
    if (namesIn(guest.machine.layout.verified).some(name => name.startsWith(sha256))) guest.needless.push(request.url!)
    const isPart = request.headers.range !== undefined
    const range = isPart ? { 'content-range': `bytes ${from}-${to - 1}/${body.length}` } : {}
    response.writeHead(isPart ? 206 : 200, { ...headers, ...range, 'content-length': to - from })
    response.flushHeaders()
    for (let at = from; at < to && !response.destroyed; ) {
      const share = Math.min(Math.max(guest.share * parts.length - index, 0), 1)
      const end = Math.min(to, Math.floor(body.length * share), at + mib / 4)
      if (end > at) await send(body.subarray(at, end))
      else await delay(5)
      at = Math.max(at, end)
    }
    response.end()
  }

async function askFor(machine: ContentMachine, contents: ContentConfig[], volumes: VolumeConfig[]) {
  const peer = await connected(machine)
  for (const config of contents) peer.publish('contentConfig', contentKeyOf(config), config, { keep: true })
  for (const config of volumes) peer.publish('volumeConfig', volumeKeyOf(config), config, { keep: true })
  const all = contents.length + volumes.length
  await until('all of it is kept', () => namesIn(machine.layout.requests).length === all)
  peer.close()
}

async function allThere(machine: ContentMachine, contents: ContentConfig[], volumes: VolumeConfig[]) {
  const peer = await connected(machine)
  const states = () => [
    ...contents.map(config => peer.all('contentStatus').get(contentKeyOf(config))),
    ...volumes.map(config => peer.all('volumeStatus').get(volumeKeyOf(config))),
  ]
  const isDone = () =>
    states().every(status => status && ['verified', 'created'].includes(status.state) && !status.error) &&
    namesIn(machine.layout.pending).length === 0
  try {
    await until('all of it is there', isDone)
  } catch (error) {
    throw new Error(`${error}: ${JSON.stringify(states())} ${namesIn(machine.layout.pending)}`)
  } finally {
    peer.close()
  }
}

async function connected({ layout }: ContentMachine): Promise<Peer> {
  const peer = await until('the hub can be reached', () => connectTo(layout, 'requester').catch(() => null))
  return peer as Peer
}

function contentOf(text: string, sha256?: Sha256): ContentConfig {
  const ref = contentRefOf({ text, baseDirectory: '/', sha256 })
  if (!('name' in ref)) throw new Error(JSON.stringify(ref))
  return { scope: 'images', id: contentIdOf(ref), ref, until: 'verified' }
}

function volumeOf(request: VolumeRequest): VolumeConfig {
  const config = volumeConfigOf(request, { owner: 'local', scope: 'volumes' })
  if ('problems' in config) throw new Error(JSON.stringify(config))
  return config
}

const contentKeyOf = ({ scope, id }: ContentConfig) => join(scope, id)
const volumeKeyOf = (config: VolumeConfig) => `${config.scope}/${volumeKey(config)}`

const randomBytes = (seed: number, bytes: number): Buffer => randomLayer({ seed, bytes })[0]!.body

function wantsUser(response: ServerResponse): true {
  response.writeHead(401, { 'www-authenticate': 'Basic realm="test"' }).end()
  return true
}

const userOf = (authorization = ''): string =>
  Buffer.from(authorization.replace(/^Basic /, ''), 'base64')
    .toString()
    .split(':')[0]!
