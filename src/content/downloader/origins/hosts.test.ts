import { describe, expect, it } from 'vitest'
import { hostsOf } from './hosts.ts'

const ca = '-----BEGIN CERTIFICATE-----'

describe('a registry is spoken to', () => {
  it.each([
    ['registry.example', 'https://registry.example/'],
    ['registry.example:5000', 'https://registry.example:5000/'],
    ['10.0.0.1:5000', 'https://10.0.0.1:5000/'],
    ['127.0.0.1:5000', 'http://127.0.0.1:5000/'],
    ['127.9.9.9', 'http://127.9.9.9/'],
    ['[::1]:5000', 'http://[::1]:5000/'],
    ['localhost:5000', 'http://localhost:5000/'],
    ['localhost.example', 'https://localhost.example/'],
    ['127.0.0.1.example', 'https://127.0.0.1.example/'],
    ['docker.io', 'https://registry-1.docker.io/'],
    ['index.docker.io', 'https://registry-1.docker.io/'],
    ['lab.example:5000', 'http://lab.example:5000/'],
    ['LAB.example:5000', 'http://lab.example:5000/'],
    ['127.0.0.1:5001', 'https://127.0.0.1:5001/'],
    ['127.0.0.1:5002', 'https://127.0.0.1:5002/'],
  ])('%s at %s', (host, url) => {
    const hosts = hostsOf([
      { host: 'lab.example:5000', plainHttp: true },
      { host: '127.0.0.1:5001', ca },
      { host: '127.0.0.1:5002', plainHttp: false },
    ])
    expect(hosts.baseOf(host).href).toBe(url)
  })

  it.each(['', 'a/b', 'user@host', 'host?x', 'host#x', 'host:99999', 'a b', 'a\\b'])(
    'not when its name is %j',
    host => {
      expect(() => hostsOf([]).baseOf(host)).toThrow(expect.objectContaining({ code: 'source.uri-invalid' }) as Error)
    },
  )
})

describe('a datastore', () => {
  it('is found in any spelling of its host', () => {
    const hosts = hostsOf([{ host: 'Registry.Example:443', username: 'u', password: 'p' }])
    expect(hosts.knows('registry.example')).toBe(true)
    expect(hosts.knows('registry.example:5000')).toBe(false)
    expect(hosts.credentialsOf('registry.example')?.password.reveal()).toBe('p')
  })

  it('of Docker Hub is good for all its names', () => {
    const hosts = hostsOf([{ host: 'docker.io', username: 'u' }])
    expect(hosts.credentialsOf('auth.docker.io')?.username).toBe('u')
    expect(hosts.credentialsOf('registry-1.docker.io')?.username).toBe('u')
  })

  it('without a user name has no credentials', () => {
    expect(hostsOf([{ host: 'a.example', password: 'p' }]).credentialsOf('a.example')).toBe(null)
  })
})

describe('a password may go', () => {
  it.each([
    ['https://anywhere.example/', true],
    ['http://127.0.0.1:1/', true],
    ['http://lab.example/', true],
    ['http://anywhere.example/', false],
  ])('to %s: %s', (url, may) => {
    expect(hostsOf([{ host: 'lab.example', plainHttp: true }]).isPrivate(new URL(url))).toBe(may)
  })
})
