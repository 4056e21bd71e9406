// A real docker-registry on loopback, with its data in a temporary directory, and what is needed to put content into it.
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sha256Hex } from '../../src/lib/json.ts'
import { findProgram } from '../../src/lib/run.ts'
import type { MadeImage } from './image.ts'

export interface RealRegistry {
  /** `127.0.0.1:port`. */
  readonly host: string
  /** Present when it wants a password. */
  readonly credentials: Credentials | undefined
  /** Where its data lies, below `docker/registry/v2`. */
  readonly directory: string
  stop(): Promise<void>
}

export interface Credentials {
  readonly username: string
  readonly password: string
}

export interface RegistryOptions {
  /** Nobody reads or writes without the one user and password there is. */
  readonly auth?: boolean
}

const credentials: Credentials = { username: 'ann', password: 'correct horse' }
const htpasswd = 'ann:$2b$04$LrMFZdyexPpoo2YJapLaC.y8V5FeM883Cj0Kt0Ps308GoX.9R84TG\n'

export async function startRegistry({ auth = false }: RegistryOptions = {}): Promise<RealRegistry> {
  const home = mkdtempSync(join(tmpdir(), 'cairn-registry-'))
  const directory = join(home, 'data')
  const config = join(home, 'config.json')
  const users = join(home, 'htpasswd')
  writeFileSync(users, htpasswd)
  writeFileSync(config, JSON.stringify(configOf(directory, auth ? users : null)))
  const child = spawn(findProgram('docker-registry')!, ['serve', config], { stdio: ['ignore', 'ignore', 'pipe'] })
  const stop = async () => {
    await ended(child)
    rmSync(home, { recursive: true, force: true })
  }
  try {
    const host = await listening(child)
    return { host, directory, credentials: auth ? credentials : undefined, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** YAML takes JSON. Port 0: the registry says which one it got, so that no other can take it in between. */
const configOf = (rootdirectory: string, users: string | null) => ({
  version: 0.1,
  log: { level: 'info', accesslog: { disabled: true } },
  storage: {
    filesystem: { rootdirectory },
    delete: { enabled: true },
    maintenance: { uploadpurging: { enabled: false } },
  },
  http: { addr: '127.0.0.1:0', secret: 'of a test' },
  ...(users !== null && { auth: { htpasswd: { realm: 'cairn test', path: users } } }),
})

function listening(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    child.stderr?.on('data', (chunk: Buffer) => {
      if (text.length < 64 * 1024) text += chunk
      const [, host] = /listening on (127\.0\.0\.1:\d+)/.exec(text) ?? []
      if (host !== undefined) resolve(host)
    })
    child.on('error', reject)
    child.on('exit', code => reject(new Error(`docker-registry ended with ${code}:\n${text}`)))
  })
}

function ended(child: ChildProcess): Promise<void> {
  return new Promise(resolve => {
    if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return resolve()
    child.on('exit', () => resolve())
    child.kill('SIGKILL')
  })
}

export interface Pushed {
  readonly repository: string
  readonly tag: string
}

/** All platforms, under one tag. */
export async function pushImage(registry: RealRegistry, { index, manifests, blobs }: MadeImage, to: Pushed) {
  const { repository, tag } = to
  for (const body of blobs.values()) await putBlob(registry, repository, body)
  for (const { sha256, ...manifest } of manifests)
    await putManifest(registry, { repository, reference: `sha256:${sha256}`, ...manifest })
  await putManifest(registry, { repository, reference: tag, ...index })
}

export async function putBlob(registry: RealRegistry, repository: string, body: Buffer): Promise<void> {
  const started = await send(registry, `/v2/${repository}/blobs/uploads/`, { method: 'POST' })
  const place = new URL(started.headers.get('location') ?? '', `http://${registry.host}`)
  place.searchParams.set('digest', `sha256:${sha256Hex(body)}`)
  await send(registry, place.pathname + place.search, { method: 'PUT', body: new Uint8Array(body) })
}

export interface PutManifest {
  readonly repository: string
  /** A tag, or `sha256:…`. */
  readonly reference: string
  readonly mediaType: string
  readonly body: Buffer
}

export async function putManifest(registry: RealRegistry, { repository, reference, mediaType, body }: PutManifest) {
  const path = `/v2/${repository}/manifests/${reference}`
  await send(registry, path, { method: 'PUT', headers: { 'content-type': mediaType }, body: new Uint8Array(body) })
}

async function send({ host, credentials }: RealRegistry, path: string, request: RequestInit): Promise<Response> {
  const headers = new Headers(request.headers)
  const user = credentials && Buffer.from(`${credentials.username}:${credentials.password}`).toString('base64')
  if (user !== undefined) headers.set('authorization', `Basic ${user}`)
  const response = await fetch(`http://${host}${path}`, { ...request, headers })
  if (!response.ok) throw new Error(`${request.method} ${path}: HTTP ${response.status} ${await response.text()}`)
  await response.arrayBuffer()
  return response
}
