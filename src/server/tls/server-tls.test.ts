import { X509Certificate } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Clock, realClock } from '../../lib/clock.ts'
import { createClient } from '../client.ts'
import { health } from '../contract/service.ts'
import { makeAuthority, makeServerCertificate } from './certificate.ts'
import { tlsFor } from './server-tls.ts'

let dataDirectory: string

beforeEach(() => {
  dataDirectory = mkdtempSync(join(tmpdir(), 'cairn-tls-'))
})
afterEach(() => rmSync(dataDirectory, { recursive: true }))

const own = (host = '10.1.2.3', clock: Clock = realClock) => tlsFor({ dataDirectory, host, clock })!
const givenTls = (given: { cert: string; key: string }) =>
  tlsFor({ given, dataDirectory, host: '127.0.0.1', clock: realClock })!
const later = (days: number): Clock => ({ ...realClock, now: () => new Date(Date.now() + days * 86_400_000) })

/** What a client that trusts `ca` has to say of a server with this certificate. */
async function handshake(tls: { cert: string; key: string }, ca: string): Promise<unknown> {
  const server = createServer(tls, (_request, response) => response.end('{"ok":true}'))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const client = createClient({ url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, ca })
  try {
    return await client.call(health, {}).catch((error: unknown) => error)
  } finally {
    await client.close()
    await new Promise(resolve => server.close(resolve))
  }
}

it('loopback needs no certificate, and every other address has one', () => {
  for (const host of ['127.0.0.1', '127.9.9.9', '::1', 'localhost']) expect(own(host)).toBeNull()
  for (const host of ['0.0.0.0', '::', '10.0.0.1', 'cairn.example', 'localhost.example', '::ffff:127.0.0.1'])
    expect(own(host)).not.toBeNull()
})

describe('a certificate of its own making', () => {
  it('is trusted by whoever trusts its authority, and by nobody else', async () => {
    const tls = own()
    const ca = readFileSync(tls.caFile!, 'utf8')
    expect(await handshake(tls, ca)).toEqual({ ok: true })
    const { certificate: stranger } = makeAuthority('Another', { from: new Date(0), until: new Date(4e12) })
    expect(await handshake(tls, stranger)).toMatchObject({ code: 'server.certificate-refused' })
  })

  it('is for the address that the server listens on and for this machine', () => {
    const certificate = new X509Certificate(own('fd00::7').cert)
    expect(certificate.checkIP('fd00::7')).toBe('fd00::7')
    expect(certificate.checkIP('127.0.0.1')).toBe('127.0.0.1')
    expect(certificate.checkHost('localhost')).toBe('localhost')
    expect(certificate.checkHost('cairn.example')).toBeUndefined()
    expect(certificate.ca).toBe(false)
  })

  it('has an authority for ten years, and keys that only their owner reads', () => {
    const { caFile } = own()
    const authority = new X509Certificate(readFileSync(caFile!))
    expect(authority.ca).toBe(true)
    expect(authority.verify(authority.publicKey)).toBe(true)
    expect(new Date(authority.validTo).getUTCFullYear() - new Date().getUTCFullYear()).toBeGreaterThanOrEqual(9)
    for (const name of ['ca.key', 'server.key']) expect(statSync(join(dataDirectory, name)).mode & 0o777).toBe(0o600)
  })

  it('stays as it is until it is near its end or the host is another; the authority stays', () => {
    const first = own()
    expect(own()).toEqual(first)
    const authority = readFileSync(first.caFile!, 'utf8')
    const renewed = own('10.1.2.3', later(380))
    expect(renewed.cert).not.toBe(first.cert)
    const moved = own('10.9.9.9', later(380))
    expect(moved.cert).not.toBe(renewed.cert)
    expect(readFileSync(first.caFile!, 'utf8')).toBe(authority)
  })

  it('is made anew when what is there is damaged', () => {
    const { cert } = own()
    writeFileSync(join(dataDirectory, 'server.crt'), 'rubbish')
    expect(own().cert).not.toBe(cert)
  })
})

describe('a given certificate', () => {
  it('must belong to the given key', () => {
    const validity = { from: new Date(), until: new Date(Date.now() + 86_400_000) }
    const { authority } = makeAuthority('Mine', validity)
    const [one, two] = [0, 1].map(() => makeServerCertificate(authority, { hosts: ['localhost'], ...validity }))
    const file = (name: string, text: string) => {
      writeFileSync(join(dataDirectory, name), text)
      return join(dataDirectory, name)
    }
    const cert = file('a.crt', one!.certificate)
    expect(givenTls({ cert, key: file('a.key', one!.key) }).cert).toBe(one!.certificate)
    expect(() => givenTls({ cert, key: file('b.key', two!.key) })).toThrow(
      expect.objectContaining({ code: 'tls.key-mismatch' }),
    )
    expect(() => givenTls({ cert, key: join(dataDirectory, 'none') })).toThrow(
      expect.objectContaining({ code: 'tls.unreadable' }),
    )
  })
})
