import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { redact, Secret, withoutControls, withoutControlsDeep } from './redact.ts'

describe('a Secret', () => {
  const secret = new Secret('hunter2')

  it('tells itself to nobody but who asks for it', () => {
    const shown = [`${secret}`, String(secret), JSON.stringify({ secret }), inspect(secret), inspect({ a: [secret] })]
    for (const text of shown) expect(text).not.toContain('hunter2')
    expect(Object.keys(secret)).toEqual([])
    expect(secret.reveal()).toBe('hunter2')
  })
})

describe('redact', () => {
  it.each([
    ['GET https://user:hunter2@host.example/a/b?token=hunter2#hunter2 failed', 'GET https://host.example/a/b failed'],
    ['(see https://host.example/a?sig=hunter2).', '(see https://host.example/a).'],
    ['https://us@er:hunter2@host.example', 'https://host.example'],
    ['https://host.example/@scope/name', 'https://host.example/@scope/name'],
    ['Authorization: Bearer hunter2hunter2', 'Authorization: [hidden]'],
    ['{"authorization":"Basic aHVudGVyMg=="}', '{"authorization":[hidden]'],
    ['sent Bearer hunter2hunter2 to it', 'sent Bearer [hidden] to it'],
    ['Cookie: session=hunter2; a=b', 'Cookie: [hidden]'],
    ['X-Vault-Token: hunter2', 'X-Vault-Token: [hidden]'],
    ['DB_PASSWORD=hunter2 started', 'DB_PASSWORD=[hidden] started'],
    ['"api_key": "hunter2"', '"api_key": "[hidden]"'],
    ['pushed with ghp_abcdefghijklmnopqrstuvwxyz0123', 'pushed with [hidden]'],
    ['-----BEGIN OPENSSH PRIVATE KEY-----\nhunter2\n-----END OPENSSH PRIVATE KEY-----\nafter', '[hidden]\nafter'],
    ['-----BEGIN PRIVATE KEY-----\nhunter2 cut off', '[hidden]'],
    ['AGE-SECRET-KEY-1QQPQQQ', '[hidden]'],
  ])('%s', (text, safe) => {
    expect(redact(text)).toBe(safe)
  })

  it('strips control characters first, so that they cannot split a credential', () => {
    expect(redact('pass\x00word=hunter2')).toBe('password=[hidden]')
    expect(redact('Bea\x1b[31mrer hunter2hunter2')).toBe('Bearer [hidden]')
  })

  it('leaves ordinary text alone', () => {
    const text = '/etc/caddy/Caddyfile exists; version 1.7.0, sha256:ab12, unit web@1.service, basic setup'
    expect(redact(text)).toBe(text)
  })

  it('needs time in proportion to the text', () => {
    const long = `https://${'a@'.repeat(100_000)}`
    expect(redact(long)).toBe('https://')
  })
})

describe('control characters', () => {
  it('go, with the sequences they begin; line feeds and tabs stay', () => {
    expect(withoutControls('a\x1b[2Jb\rc\x07\u009b31md\u202ee\n\tf')).toBe('abcde\n\tf')
  })

  it('go from every string of a value, whose shape stays', () => {
    const made = new Date(0)
    expect(withoutControlsDeep({ a: ['x\x07', 1, null], b: { c: 'y\x1b[1m', made } })).toEqual({
      a: ['x', 1, null],
      b: { c: 'y', made },
    })
  })
})
