// The whole server over its real database, in this process.
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Secret } from '../lib/redact.ts'
import { type Client, createClient } from './client.ts'
import { routes } from './contract/all.ts'
import { createLogger } from './logger.ts'
import { type ServeOptions, type Serving, serve, serverFileIn } from './serve.ts'
import { makeAuthority, makeServerCertificate } from './tls/certificate.ts'

let dataDirectory: string
let log: string[]
const running: Serving[] = []
const clients: Client[] = []

beforeEach(() => {
  dataDirectory = mkdtempSync(join(tmpdir(), 'cairn-serve-'))
  log = []
})
afterEach(async () => {
  await Promise.all(clients.splice(0).map(client => client.close()))
  await Promise.all(running.splice(0).map(server => server.stop()))
  rmSync(dataDirectory, { recursive: true })
})

async function start(options: Partial<ServeOptions> = {}): Promise<Serving> {
  const server = await serve({
    dataDirectory,
    listen: { host: '127.0.0.1', port: 0 },
    logger: createLogger({ write: line => void log.push(line) }),
    limits: { stopMs: 2_000 },
    ...options,
  })
  running.push(server)
  return server
}

function clientOf({ url, tokenFile, caFile }: Serving): Client {
  const token = new Secret(readFileSync(tokenFile, 'utf8').trim())
  const client = createClient({ url, token, ...(caFile !== undefined && { ca: readFileSync(caFile, 'utf8') }) })
  clients.push(client)
  // Whatever is answered here is what the contract says, no more and no less.
  return {
    ...client,
    call: async (route, call) => {
      const answer = await client.call(route, call)
      expect(route.answer.parse(answer)).toEqual(answer)
      return answer
    },
  }
}

const bundle = (color: string) => ({
  stackName: 'labels',
  sources: [{ name: 'edge.yaml', content: `kind: Label\nmetadata:\n  name: edge\nspec:\n  color: "${color}"\n` }],
})

describe('a server', () => {
  it('makes the first token in a file that only its owner reads, and keeps it', async () => {
    const first = await start()
    expect(statSync(first.tokenFile).mode & 0o777).toBe(0o600)
    expect(await clientOf(first).call(routes.whoAmI, {})).toMatchObject({ name: 'local', role: 'admin' })
    const text = readFileSync(first.tokenFile, 'utf8')
    await first.stop()
    const second = await start()
    expect(readFileSync(second.tokenFile, 'utf8')).toBe(text)
    expect(await clientOf(second).call(routes.whoAmI, {})).toMatchObject({ name: 'local' })
  })

  it('makes another token when that one is revoked', async () => {
    const first = await start()
    const client = clientOf(first)
    const { id } = await client.call(routes.whoAmI, {})
    await client.call(routes.revokeToken, { params: { id } })
    await first.stop()
    const second = await start()
    expect(await clientOf(second).call(routes.whoAmI, {})).toMatchObject({ role: 'admin' })
  })

  it('says where it is while it runs', async () => {
    const server = await start()
    const found = JSON.parse(readFileSync(serverFileIn(dataDirectory), 'utf8'))
    expect(found).toEqual({ url: server.url, tokenFile: server.tokenFile, pid: process.pid })
    await server.stop()
    expect(existsSync(serverFileIn(dataDirectory))).toBe(false)
  })

  it('applies a bundle, shows what it made, and knows it after a restart', async () => {
    const first = await start()
    const client = clientOf(first)
    const steps: string[] = []
    const applied = await client.stream(routes.applyBundle, {
      body: bundle('#112233'),
      onProgress: step => steps.push(step.state),
    })
    expect(applied.outcome).toEqual({ did: 'applied', madeStack: true })
    expect(steps).toContain('done')
    const again = await client.call(routes.applyBundle, { body: { ...bundle('#112233'), stack: 'labels' } })
    expect(again.outcome).toEqual({ did: 'nothing' })
    const { events } = await client.call(routes.stackEvents, { params: { id: 'labels' } })
    expect(events.map(({ type }) => type)).toEqual(['apply'])
    await first.stop()
    const second = clientOf(await start())
    const stack = await second.call(routes.getStack, { params: { id: 'labels' } })
    expect(stack.live).toEqual([{ kind: 'Label', name: 'edge', displayName: 'edge', state: 'live', status: null }])
    const { resources } = await second.call(routes.listResources, { params: { kind: 'Label' } })
    expect(resources[0]).toMatchObject({ spec: { color: '#112233' }, metadata: { stack: { name: 'labels' } } })
  })

  it('plans, exports, takes over, forgets and uninstalls as the contract says', async () => {
    const client = clientOf(await start())
    const params = { id: 'labels' }
    await client.call(routes.applyBundle, { body: bundle('#112233') })
    const { plan } = await client.call(routes.planBundle, {
      body: { ...bundle('#445566'), stack: 'labels', save: true },
    })
    expect(plan.counts).toMatchObject({ update: 1 })
    await client.call(routes.applyBundle, { body: { planId: plan.id } })
    expect(await client.call(routes.exportBundle, { body: { stacks: ['labels'] } })).toMatchObject([
      { kind: 'Label', spec: { color: '#445566' } },
    ])
    const { resources } = await client.call(routes.listResources, { params: { kind: 'Label' } })
    const label = { kind: 'Label', id: resources[0]!.metadata.id }
    const spec = { name: 'edge', color: '#000000' }
    await client.call(routes.putResource, { params: label, body: { spec } })
    const { drift } = await client.call(routes.refreshStack, { params, body: {} })
    expect(drift).toHaveLength(1)
    await client.call(routes.forgetInStack, { params, body: { resources: [{ kind: 'Label' }] } })
    const imported = { resources: [{ kind: 'Label', displayName: 'edge', name: 'edge' }] }
    await client.call(routes.importIntoStack, { params, body: imported })
    const { revision } = await client.call(routes.getStack, { params })
    const stale = client.call(routes.patchStack, { params, body: { description: 'x' }, ifMatch: revision - 1 })
    await expect(stale).rejects.toMatchObject({ status: 412 })
    await client.call(routes.patchStack, { params, body: { description: 'x' }, ifMatch: revision })
    const confirm = ['massDelete' as const]
    await client.call(routes.uninstallStack, { params, body: { planOnly: true, confirm } })
    await client.call(routes.uninstallStack, { params, body: { confirm } })
    await client.call(routes.deleteStack, { params })
    expect((await client.call(routes.listStacks, {})).stacks).toEqual([])
    const { entries } = await client.call(routes.listAudit, {})
    expect(entries).toHaveLength(11)
  })

  it('keeps secrets, and shows none of them', async () => {
    const client = clientOf(await start())
    await client.call(routes.putSecret, { params: { key: 'webhook' }, body: { value: 'hunter2-value' } })
    const { secrets } = await client.call(routes.listSecrets, {})
    expect(secrets).toMatchObject([{ key: 'webhook', usedBy: [] }])
    await client.call(routes.deleteSecret, { params: { key: 'webhook' } })
    expect(log.join('')).not.toContain('hunter2-value')
  })

  it('answers an invalid bundle with all that is wrong, and changes nothing', async () => {
    const client = clientOf(await start())
    const body = { sources: [{ name: 'a.yaml', content: 'kind: Lable\nmetadta: {name: x}\n' }] }
    const failed = await client.call(routes.applyBundle, { body }).catch((error: unknown) => error)
    expect(failed).toMatchObject({ status: 422, body: { plan: { actions: [] } } })
    expect((await client.call(routes.listStacks, {})).stacks).toEqual([])
  })

  it('streams what was committed', async () => {
    const client = clientOf(await start())
    await client.call(routes.applyBundle, { body: bundle('#112233') })
    const stop = new AbortController()
    const seen: string[] = []
    for await (const event of client.events({ since: 0, signal: stop.signal })) {
      if (event.event === 'change') seen.push(`${event.change.what} ${event.change.kind} ${event.change.name}`)
      if (seen.some(line => line.includes('Label'))) break
    }
    stop.abort()
    expect(seen).toContain('created Label edge')
  })

  it('speaks TLS with the certificate that it is given', async () => {
    const validity = { from: new Date(), until: new Date(Date.now() + 86_400_000) }
    const { authority, certificate } = makeAuthority('Mine', validity)
    const made = makeServerCertificate(authority, { hosts: ['127.0.0.1'], ...validity })
    const [cert, key, caFile] = ['given.crt', 'given.key', 'given-ca.crt'].map(name => join(dataDirectory, name))
    writeFileSync(cert!, made.certificate)
    writeFileSync(key!, made.key)
    writeFileSync(caFile!, certificate)
    const server = await start({ tls: { cert: cert!, key: key! } })
    expect(server.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/)
    const client = clientOf({ ...server, caFile: caFile! })
    expect(await client.call(routes.readiness, {})).toEqual({ ok: true, leader: expect.any(Boolean) })
  })

  it('says who is in the way when its address is taken', async () => {
    const { url } = await start()
    const port = Number(new URL(url).port)
    const other = mkdtempSync(join(tmpdir(), 'cairn-serve-'))
    await expect(start({ dataDirectory: other, listen: { host: '127.0.0.1', port } })).rejects.toMatchObject({
      code: 'server.address-taken',
    })
    rmSync(other, { recursive: true })
  })

  it('stops when asked, twice as well as once, and logs no token', async () => {
    const server = await start()
    const text = readFileSync(server.tokenFile, 'utf8').trim()
    await clientOf(server).call(routes.whoAmI, {})
    await Promise.all([server.stop(), server.stop()])
    expect(log.join('')).toContain('stopped')
    expect(log.join('')).not.toContain(text.split('_')[2])
  })
})
