// Canaries for the secrets of a control plane. They are put in every way there is, then everything is asked, and everything
// goes wrong that can; they are in no database file, log, answer, plan, backup or argument list. Of tokens, only hashes are.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createToken, listSecrets } from '../../src/server/contract/access.ts'
import { keyFileIn } from '../../src/server/database/data-directory.ts'
import { runOrThrow } from '../machine/process.ts'
import { describeWith } from '../require.ts'
import { postgresPrograms } from '../server/postgres-programs.ts'
import { type Canaries, canary, watchCanaries } from './canaries.ts'
import { databases, type Ground, openGround, type TestServer } from './server.ts'

const secrets = {
  'from a file at apply': canary(),
  'from standard input at apply': canary(),
  'of a changed secret': canary(),
  'of secret set': canary(),
  'of secret set from standard input': canary(),
  'of the API': canary(),
  'of an apply that is refused': canary(),
  'of a request that cannot be read': canary(),
  'written into a bundle': canary(),
  'of a write that fails': canary(),
  'sent as a token': canary(),
}
const typed = { 'typed as an argument': canary() }

const bundle = `
kind: Label
metadata: { name: edge }
---
kind: Datastore
metadata: { name: harbor }
spec:
  username: fleet
  password: { secretRef: { key: harbor } }
---
kind: Datastore
metadata: { name: quay }
spec:
  username: fleet
  password: { secretRef: { key: quay } }
---
kind: Instance
metadata: { name: nightly }
spec:
  roles:
    client:
      settings: { passphrase: { secretRef: { key: passphrase } } }
`

for (const kind of databases)
  describeWith(kind === 'postgres' ? ['postgres'] : [], `secrets of a control plane on ${kind}`, () => {
    let ground: Ground
    let server: TestServer
    let canaries: Canaries
    let tokens: Record<string, string>
    beforeAll(async () => {
      ground = await openGround(kind)
      server = await ground.startServer()
      const { text } = await server.client.call(createToken, { body: { name: 'ci', role: 'operator' } })
      tokens = {
        'the admin token': server.adminToken,
        'a token': text,
        'the key of the vault': /AGE-SECRET-KEY-\S+/.exec(readFileSync(keyFileIn(server.data), 'utf8'))?.[0] ?? '',
      }
      expect(Object.values(tokens).every(token => token.length > 50)).toBe(true)
      canaries = watchCanaries({ secrets: { ...secrets, ...tokens }, typed })
    })
    afterAll(async () => {
      canaries?.end()
      await ground?.remove()
    })

    /** With everything it says, also in its other forms. */
    const cairn = async (words: readonly string[], input?: string) => {
      const told = await server.cairn([...words, '--debug'], input === undefined ? {} : { input })
      canaries.look(`what ${words.join(' ').slice(0, 40)} says`, told.stdout + told.stderr)
      return told.code
    }
    const ask = async (path: string, init: RequestInit = {}) => {
      const answer = await server.fetch(path, init)
      const headers = JSON.stringify([...answer.headers])
      canaries.look(
        `the answer of ${init.method ?? 'GET'} ${path.replace(/canary-\w+/, '…')}`,
        headers + (await answer.text()),
      )
      return answer.status
    }
    const send = (method: string, path: string, body: unknown, type = 'application/json') =>
      ask(path, {
        method,
        body: typeof body === 'string' ? body : JSON.stringify(body),
        headers: { 'content-type': type },
      })
    const file = (name: keyof typeof secrets) =>
      ground.write(`input/${name.replaceAll(' ', '-')}`, `${secrets[name]}\n`)

    it('are found by this test where they are', () => {
      const control = watchCanaries({ secrets: { value: 'canary-0123456789abcdef' } })
      for (const [where, text] of Object.entries({
        clear: 'x=canary-0123456789abcdef;',
        hex: Buffer.from('canary-0123456789abcdef').toString('hex'),
        base64: Buffer.from('user:canary-0123456789abcdef').toString('base64'),
        nothing: 'canary-fedcba9876543210',
      }))
        control.look(where, text)
      control.end()
      expect(control.found()).toEqual(['value in base64', 'value in clear', 'value in hex'])
    })

    it('can be put in every way', async () => {
      const path = ground.write('bundle/homelab.yaml', bundle)
      expect(await cairn(['secret', 'set', 'passphrase', '--from-file', file('of secret set')])).toBe(0)
      expect(await cairn(['secret', 'set', 'other', '--stdin'], secrets['of secret set from standard input'])).toBe(0)
      expect(await send('PUT', '/api/v1/secrets/spare', { value: secrets['of the API'] })).toBe(200)
      const given = (name: keyof typeof secrets) => [
        ...['--secret-file', `harbor=${file(name)}`],
        ...['--secret', 'quay=@-'],
      ]
      const standardInput = secrets['from standard input at apply']
      expect(await cairn(['apply', '-f', path, '--yes', ...given('from a file at apply')], standardInput)).toBe(0)
      const plan = join(ground.directory, 'homelab.plan')
      const planning = ['plan', '-f', path, '-o', plan, ...given('of a changed secret')]
      expect(await cairn(planning, standardInput)).toBe(0)
      canaries.look('the plan file', readFileSync(plan))
      const changed = ['--secret-file', `harbor=${file('of a changed secret')}`, '--secret', 'quay=@-']
      expect(await cairn(['apply', '--plan', plan, '--yes', ...changed], standardInput)).toBe(0)
      const { secrets: put } = await server.client.call(listSecrets, {})
      expect(put.map(({ key, usedBy }) => [key, ...usedBy])).toEqual([
        ['harbor', 'Datastore/harbor'],
        ['other'],
        ['passphrase', 'Instance/nightly'],
        ['quay', 'Datastore/quay'],
        ['spare'],
      ])
    })

    describe('stay secret', () => {
      it('to whoever asks for everything', async () => {
        for (const words of [
          'export --all',
          'export --all --resolve',
          'get Datastore',
          'get Datastore harbor --json',
          'get Instance --json',
          'stacks list',
          'stacks show homelab --json',
          'stacks history homelab --json',
          'stacks refresh homelab',
          'secret list --json',
          'token list --json',
        ])
          expect([words, await cairn(words.split(' '))]).toEqual([words, 0])
        for (const path of [
          '/api/v1/stacks',
          '/api/v1/stacks/homelab',
          '/api/v1/stacks/homelab/events',
          '/api/v1/resources/Datastore',
          '/api/v1/secrets',
          '/api/v1/tokens',
          '/api/v1/audit?limit=500',
          '/metrics',
        ])
          expect([path, await ask(path)]).toEqual([path, 200])
        for (const [path, body] of [
          ['plan', { stack: 'homelab', sources: [{ name: 'b.yaml', content: bundle }], save: true }],
          ['export', { all: true }],
        ] as const)
          expect(await send('POST', `/api/v1/bundles/${path}`, body)).toBe(200)
        const rows = await server.query('select * from feed')
        canaries.look('the feed', JSON.stringify(rows))
        expect(canaries.found()).toEqual([])
      })

      it('when a bundle is refused', async () => {
        const value = secrets['of an apply that is refused']
        const sent = (more: object) => ({ stack: 'homelab', secrets: { harbor: value, quay: value }, ...more })
        const source = (content: string) => ({ sources: [{ name: 'b.yaml', content }] })
        const inline = bundle.replace('{ secretRef: { key: harbor } }', `"${secrets['written into a bundle']}"`)
        for (const [body, status] of [
          [sent(source('kind: Datastor\nmetadata: { name: harbor }\n')), 422],
          [sent(source(`${bundle}---\nkind: Label\nmetadata: { name: edge }\n`)), 422],
          [sent(source(inline)), 422],
          [sent({ ...source(inline), options: { unknownKeys: 'warn' } }), 422],
          [sent(source(bundle.replace('key: quay', `key: quay, value: ${secrets['written into a bundle']}`))), 422],
          [sent({ ...source(bundle), stack: 'unknown' }), 404],
          [sent({ ...source(bundle), expectPlan: { id: 'x', basis: { stackRevision: 0 }, expiresAt: '' } }), 400],
          [sent(source('kind: Label\nmetadata: { name: edge }\n')), 422],
          [{ planId: 'unknown', secrets: { harbor: value } }, 404],
        ] as const) {
          expect([body, await send('POST', '/api/v1/bundles/apply', body)]).toEqual([body, status])
          if (!('planId' in body)) await send('POST', '/api/v1/bundles/plan', { ...body, confirm: undefined })
        }
        const path = ground.write('bundle/inline.yaml', inline)
        const words = ['-f', path, '--secret-file', `quay=${file('of an apply that is refused')}`]
        expect(await cairn(['validate', '-f', path])).toBe(3)
        expect(await cairn(['validate', '-f', path, '--offline'])).toBe(3)
        expect(await cairn(['plan', ...words, '--json'])).toBe(3)
        expect(await cairn(['apply', ...words, '--yes'])).toBe(3)
        expect(canaries.found()).toEqual([])
      })

      it('when a request cannot be read', async () => {
        const value = secrets['of a request that cannot be read']
        const secret = '/api/v1/secrets/spare'
        const apply = '/api/v1/bundles/apply'
        for (const [method, path, body, type] of [
          ['PUT', secret, `{"value": "${value}"`],
          ['PUT', secret, `{"value": "${value}", "value": "${value}"}`],
          ['PUT', secret, { value: [value] }],
          ['PUT', secret, { value, more: value }],
          ['PUT', secret, value],
          ['PUT', secret, { value }, 'text/plain'],
          ['PUT', `${secret}?value=${value}`, { value }],
          ['PUT', secret, { value: value.repeat(50_000) }],
          ['POST', apply, { sources: [], secrets: value }],
          ['POST', apply, { sources: [], secrets: { harbor: { value } } }],
          ['POST', apply, { sources: value, secrets: { harbor: value } }],
          ['POST', apply, { sources: [{ url: `https://ann:${value}@127.0.0.1:1/b.yaml?sig=${value}` }] }],
          ['POST', apply, { sources: [{ url: `https://127.0.0.1:1/b.yaml?sig=${value}` }], stackName: 'far' }],
          ['POST', apply, `kind: Label\n\tname: ${value}`, 'application/yaml'],
          ['POST', '/api/v1/stacks', { name: 'far', urls: [`https://ann:${value}@127.0.0.1/x`] }],
          ['POST', '/api/v1/tokens', { name: 'x', role: value }],
        ] as const) {
          const status = await send(method, path, body, type)
          expect([path, status >= 400 && status < 500]).toEqual([path, true])
        }
        const wrong = secrets['sent as a token']
        for (const header of [`Bearer ${wrong}`, `Basic ${wrong}`, `Bearer cairn_x_${wrong}`, wrong])
          expect(await ask('/api/v1/stacks', { headers: { authorization: header } })).toBe(401)
        expect(await cairn(['secret', 'set', 'spare', typed['typed as an argument']])).toBe(64)
        expect(
          await cairn(['apply', '-f', '-', '--yes', '--secret', `k=${typed['typed as an argument']}`], bundle),
        ).toBe(64)
        const address = `https://ann:${typed['typed as an argument']}@127.0.0.1:1`
        expect(await cairn(['stacks', 'list', '--server', address])).toBe(4)
        expect(canaries.found()).toEqual([])
      })

      it('when the database fails', async () => {
        await server.query('alter table secrets rename to secrets_gone')
        try {
          const value = secrets['of a write that fails']
          expect(await send('PUT', '/api/v1/secrets/spare', { value })).toBe(500)
          const sources = [{ name: 'b.yaml', content: bundle }]
          const body = { stack: 'homelab', sources, secrets: { harbor: value } }
          expect(await send('POST', '/api/v1/bundles/apply', body)).toBe(500)
        } finally {
          await server.query('alter table secrets_gone rename to secrets')
        }
        expect(server.log()).toContain('a request failed')
        expect(canaries.found()).toEqual([])
      })

      it('on disk, in the log and in backups', async () => {
        const own = [join(server.data, 'admin.token'), keyFileIn(server.data)]
        canaries.lookInFiles(server.data, own)
        if (kind === 'sqlite') {
          expect(readFileSync(join(server.data, 'cairn.db-wal')).length).toBeGreaterThan(0)
          const backup = join(ground.directory, 'cairn.backup')
          expect(await cairn(['backup', backup])).toBe(0)
          // It holds the key, so that what is sealed can be opened again; that is why it is private.
          const bytes = readFileSync(backup, 'latin1')
          expect(bytes).toContain(tokens['the key of the vault'])
          canaries.look('the backup', bytes.replaceAll(tokens['the key of the vault'] as string, ''))
        } else {
          const dump = join(postgresPrograms() as string, 'pg_dump')
          const { stdout } = await runOrThrow([dump, '--inserts', '--dbname', server.database as string])
          expect(stdout).toContain('BEGIN AGE ENCRYPTED FILE')
          canaries.look('the dump', stdout)
        }
        expect(await server.stop()).toBe(0)
        canaries.lookInFiles(server.data, own)
        canaries.look('the log', server.log())
        await server.start()
        expect(server.log()).toContain('answered')
        expect(canaries.found()).toEqual([])
        expect([...canaries.commands]).toEqual(
          expect.arrayContaining(['up --json', 'secret set', 'plan -f', 'apply -f', 'apply --plan']),
        )
      })

      it('as tokens: only their hashes are kept', async () => {
        const rows = await server.query('select id, hash from tokens order by id')
        const hashes = ['the admin token', 'a token'].map(name => {
          const [, id, secret = ''] = (tokens[name] as string).split('_')
          return { id, hash: createHash('sha256').update(secret).digest('hex') }
        })
        expect(rows.filter(({ id }) => hashes.some(hash => hash.id === id))).toEqual(
          hashes.toSorted((one, other) => (String(one.id) < String(other.id) ? -1 : 1)),
        )
      })
    })
  })
