// The command line against a real server: what it sends, what it says, what it asks, and with which code it ends.
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { ErrorJson } from '../../src/lib/render.ts'
import type { RunOptions } from '../machine/process.ts'
import { type Ground, openGround, type TestServer } from './server.ts'
import { onTerminal } from './terminal.ts'

let ground: Ground
let server: TestServer

beforeAll(async () => {
  ground = await openGround()
  server = await ground.startServer()
})
afterAll(() => ground?.remove())
afterEach(async () => {
  for (const table of ['stacks', 'stack_events', 'resources', 'secrets', 'plans', 'leases'])
    await server.query(`delete from ${table}`)
})

const write = (name: string, content: string) => ground.write(name, content)
const cairn = (...words: string[]) => server.cairn(words, { cwd: ground.directory })
const cairnWith = (options: RunOptions, ...words: string[]) =>
  server.cairn(words, { cwd: ground.directory, ...options })
const ok = async (...words: string[]): Promise<string> => {
  const { code, stdout, stderr } = await cairn(...words)
  expect({ words, code, stderr: code === 0 ? '' : stderr + stdout }).toEqual({ words, code: 0, stderr: '' })
  return stdout
}
const json = async (...words: string[]) => JSON.parse(await ok(...words, '--json'))
const codeOf = (stdout: string) => (JSON.parse(stdout) as ErrorJson).error.code

const label = (name: string, spec = '{}') => `kind: Label\nmetadata: { name: ${name} }\nspec: ${spec}\n`
const volume = (name: string, spec = '{}') => `---\nkind: Volume\nmetadata: { name: ${name} }\nspec: ${spec}\n`

describe('exit codes', () => {
  it('are 0 for done and for nothing to do; the second apply of a path means the same stack', async () => {
    write('fleet.yaml', label('edge'))
    expect(await ok('apply', '-f', 'fleet.yaml', '--yes')).toMatch(
      /^Applied to stack fleet: 1 created, stack fleet made/,
    )
    expect(await ok('apply', '-f', 'fleet.yaml', '--yes')).toBe('No changes. Stack fleet is as declared.\n')
    expect(await ok('plan', '-f', 'fleet.yaml', '--exit-code')).toContain('1 unchanged')
  })

  it('is 1 for an apply that failed and was taken back, with everything as it was', async () => {
    write('fleet.yaml', label('edge'))
    await ok('apply', '-f', 'fleet.yaml', '--yes')
    await server.query(
      `create trigger boom before insert on resources when new.display_name = 'boom' begin select raise(abort, 'boom'); end`,
    )
    try {
      const before = await json('stacks', 'show', 'fleet')
      write('fleet.yaml', `${label('edge', '{ name: renamed }')}---\n${label('boom')}`)
      const { code, stdout, stderr } = await cairn('apply', '-f', 'fleet.yaml', '--yes')
      expect({ code, said: stdout + stderr }).toEqual({
        code: 1,
        said: expect.stringMatching(/as it was before|failed/i),
      })
      expect(await json('stacks', 'show', 'fleet')).toEqual({ ...before, revision: expect.any(Number) })
      expect(await ok('get', 'Label')).not.toContain('renamed')
    } finally {
      await server.query('drop trigger boom')
    }
  })

  it('is 1 when no server answers, with the next step', async () => {
    const { code, stderr } = await cairn('stacks', 'list', '--server', 'http://127.0.0.1:9')
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('cairn up') })
  })

  it('is 2 for changes pending, only when asked for', async () => {
    write('fleet.yaml', label('edge'))
    expect((await cairn('plan', '-f', 'fleet.yaml', '--exit-code')).code).toBe(2)
    expect((await cairn('plan', '-f', 'fleet.yaml')).code).toBe(0)
  })

  it('is 3 for a bundle that is wrong, by every command that reads one', async () => {
    write('broken.yaml', 'kind: Lable\nmetadata: { name: edge }\n')
    for (const words of [['validate'], ['validate', '--offline'], ['plan'], ['apply', '--yes']])
      expect([words, (await cairn(...words, '-f', 'broken.yaml')).code]).toEqual([words, 3])
    expect((await cairn('validate', '-f', 'not-there.yaml')).code).toBe(3)
  })

  it('is 4 for a refusal: blocked, not confirmed, stale, locked, not allowed', async () => {
    write('fleet.yaml', label('edge') + volume('data'))
    await ok('apply', '-f', 'fleet.yaml', '--yes')
    write('other.yaml', label('mine', '{ name: edge }'))
    expect((await cairn('plan', '-f', 'other.yaml')).code).toBe(4)
    const blocked = await cairn('apply', '-f', 'other.yaml', '--yes')
    expect({ code: blocked.code, said: blocked.stderr }).toEqual({ code: 4, said: expect.stringContaining('edge') })

    write('fleet.yaml', label('edge'))
    const loss = await cairn('apply', '-f', 'fleet.yaml', '--yes')
    expect({ code: loss.code, said: loss.stderr }).toEqual({
      code: 4,
      said: expect.stringContaining('--allow-data-loss'),
    })
    await ok('plan', '-f', 'fleet.yaml', '-o', 'old.plan')
    await ok('apply', '-f', 'fleet.yaml', '--yes', '--allow-data-loss')
    const stale = await cairn('apply', '--plan', 'old.plan', '--yes', '--allow-data-loss', '--json')
    expect([stale.code, codeOf(stale.stdout)]).toEqual([4, 'plan.stale'])

    const { id } = await json('stacks', 'show', 'fleet')
    await server.query(
      `insert into leases (key, fence, holder, operation, since, expires_at) values ('${id}', 1, 'somebody', 'apply', '2026-01-01T00:00:00.000Z', '2999-01-01T00:00:00.000Z')
       on conflict (key) do update set holder = 'somebody', expires_at = '2999-01-01T00:00:00.000Z'`,
    )
    write('fleet.yaml', label('edge', '{ color: "#010203" }'))
    const locked = await cairn('apply', '-f', 'fleet.yaml', '--yes')
    expect({ code: locked.code, said: locked.stderr }).toEqual({ code: 4, said: expect.stringContaining('somebody') })
    expect(await ok('stacks', 'unlock', 'fleet', '--force')).toContain('Taken from somebody')
    await ok('apply', '-f', 'fleet.yaml', '--yes')
  })

  it('is 6 for what is applied and not ready in time', async () => {
    write('machine.yaml', 'kind: Machine\nmetadata: { name: atlas }\n')
    const { code, stdout } = await cairn('apply', '-f', 'machine.yaml', '--yes', '--wait', '100ms')
    expect({ code, stdout }).toEqual({ code: 6, stdout: expect.stringContaining('not ready in time') })
    expect(await ok('get', 'Machine', 'atlas')).toContain('atlas')
  })

  it.each([
    ['an unknown command', ['aply']],
    ['an unknown option', ['plan', '--stak', 'x']],
    ['an env without a value', ['plan', '-f', '-', '--env', 'novalue']],
    ['a secret as an argument', ['apply', '-f', '-', '--secret', 'pw=hunter2']],
    ['a kind that is none', ['get', 'Lable']],
    ['a selector that is none', ['plan', '-f', '-', '--skip', '/x']],
    ['an address that is none', ['up', '--listen', 'nowhere']],
    ['a limit that is none', ['up', '--limit', 'resources=many']],
    ['unlock without --force', ['stacks', 'unlock', 'x']],
  ])('is 64 for %s, and repeats no secret', async (_, words) => {
    const { code, stdout, stderr } = await cairnWith({ input: label('edge') }, ...words)
    expect({ code, stdout, said: stderr !== '' }).toEqual({ code: 64, stdout: '', said: true })
    expect(stderr).not.toContain('hunter2')
  })
})

describe('what is wrong', () => {
  it('is said all at once, at its places, with what was meant', async () => {
    write(
      'broken/web.yaml',
      'kind: Label\n# the name of it\nmetadta: { name: edge }\n---\nkind: PullPolicy\nmetadata: { name: gentle }\nspec:\n  maxConcurrentNodes: 0\n',
    )
    write(
      'broken/vol.yaml',
      'kind: Datastore\nmetadata: { name: harbor }\n---\nkind: Volume\nmetadata: { name: web }\nspec:\n  datastore:\n    name: harbour\n',
    )
    const { code, stdout, stderr } = await cairn('validate', '-f', 'broken')
    expect({ code, stderr }).toEqual({ code: 3, stderr: '' })
    expect(stdout).toMatchInlineSnapshot(`
      "broken/vol.yaml:8:5   there is no Datastore "harbour" in this bundle  did you mean "harbor"?
      broken/web.yaml:3:1   unknown key "metadta"                           did you mean "metadata"?
      broken/web.yaml:8:23  maxConcurrentNodes must be at least 1, got 0    PullPolicy/gentle.spec.maxConcurrentNodes
      3 problems in 2 files. Nothing was changed.
      "
    `)
    const offline = await ground.cairn(['validate', '--offline', '-f', 'broken'])
    expect(offline).toEqual({ code: 3, stdout, stderr: '' })
  })

  it('can be checked without a server, from standard input, and when it is right', async () => {
    const { code, stdout } = await ground.cairn(['validate', '--offline', '-f', '-'], { input: label('edge') })
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'Valid: 1 resource in 1 file.\n  Label  edge\n' })
    const problem = await ground.cairn(['validate', '--offline', '-f', '-', '--json'], {
      input: 'kind: Label\n\tname: x\n',
    })
    expect(JSON.parse(problem.stdout).problems).toMatchObject([
      { code: 'yaml.tab', source: { file: 'stdin', line: 2 } },
    ])
  })
})

describe('off a terminal', () => {
  it('refuses instead of asking: without --yes, without values, without secrets', async () => {
    write('fleet.yaml', `${label('edge')}`)
    const asked = await cairn('apply', '-f', 'fleet.yaml')
    expect({ code: asked.code, said: asked.stderr }).toEqual({
      code: 4,
      said: expect.stringMatching(/\+ Label\/edge.*--yes/s),
    })
    write('valued.yaml', label('edge', '{ description: { envRef: { key: text } } }'))
    const valued = await cairn('apply', '-f', 'valued.yaml', '--yes')
    expect({ code: valued.code, said: valued.stderr }).toEqual({
      code: 3,
      said: expect.stringContaining('--env text='),
    })
    write(
      'store.yaml',
      'kind: Datastore\nmetadata: { name: store }\nspec: { username: me, password: { secretRef: { key: pw } } }\n',
    )
    const secret = await cairn('apply', '-f', 'store.yaml', '--yes')
    expect({ code: secret.code, said: secret.stderr }).toEqual({
      code: 3,
      said: expect.stringContaining('--secret pw'),
    })
    expect((await cairn('apply', '-f', 'store.yaml', '--yes', '--secret', 'pw')).code).toBe(64)
    expect((await json('stacks', 'list')).stacks).toEqual([])
  })

  it('takes values with = in them, from flags and files, and secrets from files and standard input', async () => {
    write('valued.yaml', label('edge', '{ description: { envRef: { key: text } }, color: { envRef: { key: color } } }'))
    write('values', '# for the test\ncolor=#00ff00\ntext=from file\n')
    await ok('apply', '-f', 'valued.yaml', '--yes', '--env-file', 'values', '--env', 'text=a=b==c')
    expect((await json('get', 'Label', 'edge')).spec).toMatchObject({ description: 'a=b==c', color: '#00ff00' })

    const store =
      'kind: Datastore\nmetadata: { name: store }\nspec: { username: me, password: { secretRef: { key: pw } } }\n'
    write('store.yaml', store)
    write('pw', 'first\n')
    await ok('apply', '-f', 'store.yaml', '--yes', '--secret-file', 'pw=pw')
    const again = await cairnWith({ input: 'first' }, 'apply', '-f', 'store.yaml', '--yes', '--secret', 'pw=@-')
    expect(again.stdout).toContain('No changes')
    const other = await cairnWith({ input: 'second' }, 'plan', '-f', 'store.yaml', '--secret', 'pw=@-')
    expect(other.stdout).toContain('(secret, changed)')
    expect(await ok('secret', 'list')).toMatch(/^pw .*used by Datastore/)
    expect((await cairn('secret', 'rm', 'pw')).code).toBe(4)
    const set = await cairnWith({ input: 'third\n' }, 'secret', 'set', 'unused', '--stdin')
    expect(set.stdout).toBe('Secret unused is set.\n')
    expect(await ok('secret', 'rm', 'unused')).toBe('Removed unused.\n')
  })
})

describe('--json', () => {
  const fetched = async (path: string) => (await server.fetch(path)).json()

  it('is the body of the API', async () => {
    write('fleet.yaml', label('edge') + volume('data', '{ associations: [{ kind: Label, name: edge }] }'))
    const body = {
      sources: [{ name: 'fleet.yaml', content: readFileSync(join(ground.directory, 'fleet.yaml'), 'utf8') }],
    }
    const post = async (path: string, more = {}) => {
      const headers = { 'content-type': 'application/json' }
      return (await server.fetch(path, { method: 'POST', headers, body: JSON.stringify({ ...body, ...more }) })).json()
    }
    const timeless = (answer: { plan: object }) => ({ ...answer, plan: { ...answer.plan, expiresAt: '' } })
    const planned = await json('plan', '-f', 'fleet.yaml')
    const planBody = (await post('/api/v1/bundles/plan', { stackName: 'fleet' })) as { plan: object }
    expect(timeless(planned)).toEqual(timeless(planBody))
    const applied = await json('apply', '-f', 'fleet.yaml', '--yes')
    expect(applied).toMatchObject({
      status: 201,
      outcome: { did: 'applied', madeStack: true },
      stackId: expect.any(String),
    })
    expect(await json('stacks', 'show', 'fleet')).toEqual(await fetched('/api/v1/stacks/fleet'))
    expect(await json('stacks', 'list')).toEqual(await fetched('/api/v1/stacks'))
    expect(await json('stacks', 'history', 'fleet')).toEqual(await fetched('/api/v1/stacks/fleet/events'))
    expect(await json('get', 'Label')).toEqual(await fetched('/api/v1/resources/Label'))
    expect(await json('export', '--all')).toEqual(
      await (
        await server.fetch('/api/v1/bundles/export', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: '{"all": true}',
        })
      ).json(),
    )
    expect(await json('secret', 'list')).toEqual(await fetched('/api/v1/secrets'))
    expect(await json('token', 'list')).toEqual(await fetched('/api/v1/tokens'))
    const { entries } = await json('history', '--limit', '1')
    expect(entries).toMatchObject([{ action: 'POST /api/v1/bundles/apply', who: 'local' }])
    write('broken.yaml', 'kind: Lable\nmetadata: { name: edge }\n')
    const broken = await cairn('plan', '-f', 'broken.yaml', '--json')
    expect(JSON.parse(broken.stdout)).toMatchObject({
      status: 422,
      problems: [{ code: 'kind.unknown', path: 'resources[0].kind' }],
      summary: { resources: [] },
    })
  })
})

describe('a saved plan', () => {
  it('is applied as it was looked at, also after the server was started anew', async () => {
    write('fleet.yaml', label('edge'))
    expect(await ok('plan', '-f', 'fleet.yaml', '-o', 'fleet.plan')).toContain('+ Label/edge')
    write('fleet.yaml', label('changed'))
    await server.stop()
    await server.start()
    expect(await ok('apply', '--plan', 'fleet.plan', '--yes')).toContain('1 created')
    expect(await ok('get', 'Label')).toMatch(/^NAME.*edge/s)
    expect((await cairn('apply', '--plan', 'fleet.yaml', '--yes')).code).toBe(3)
    expect((await cairn('apply', '--plan', 'fleet.plan', '-f', 'fleet.yaml', '--yes')).code).toBe(64)
  })
})

describe('stacks', () => {
  it('go through all their commands', async () => {
    expect(await ok('stacks', 'create', 'home', '--description', 'at home')).toMatch(/^Stack home made, id \w+\.\n$/)
    expect(await ok('stacks', 'ls')).toContain('home')
    write('fleet.yaml', label('edge', '{ color: "#111111" }') + volume('data'))
    await ok('apply', '-f', 'fleet.yaml', '--stack', 'home', '--yes')
    const text = await ok('export', '--stack', 'home')
    expect(text).toMatch(/kind: Label.*kind: Volume/s)
    write('exported.yaml', text)
    expect(await ok('apply', '-f', 'exported.yaml', '--stack', 'home', '--yes')).toContain('No changes')
    expect(await ok('stacks', 'show', 'home')).toMatch(/Label\/edge.*Volume\/data/s)
    expect(await ok('stacks', 'refresh', 'home')).toBe('Stack home is as it was applied.\n')
    const { metadata, spec } = await json('get', 'Label', 'edge')
    await server.fetch(`/api/v1/resources/Label/${metadata.id}`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ spec: { ...spec, color: '#222222' } }),
    })
    expect(await ok('stacks', 'refresh', 'home')).toMatch(/spec\.color: "?#111111"? → "?#222222"?/)
    expect(await ok('stacks', 'refresh', 'home', '--accept')).toContain('record follows')
    expect(await ok('stacks', 'update', 'home', '--name', 'garden', '--reconcile', '10m')).toContain('garden')
    expect((await json('stacks', 'show', 'garden')).config.reconcile).toBe('10m')
    expect(await ok('stacks', 'forget', 'garden', 'Label/edge')).toContain('stay as they are')
    expect(await ok('stacks', 'import', 'garden', 'Label/edge=kante')).toContain('name: kante')
    expect(await ok('stacks', 'cancel', 'garden')).toBe('Nothing was under way.\n')
    expect(await ok('stacks', 'unlock', 'garden', '--force')).toBe('It was not locked.\n')
    expect(await ok('stacks', 'history', 'garden')).toMatch(/import.*forget.*update.*refresh.*apply.*create/s)
    expect((await cairn('stacks', 'uninstall', 'garden', '--yes')).code).toBe(4)
    expect(await ok('stacks', 'uninstall', 'garden', '--yes', '--allow-data-loss', '--allow-mass-delete')).toContain(
      'Uninstalled',
    )
    expect(await ok('get', 'Volume')).toBe('There is no Volume yet.\n')
    expect(await ok('get', 'labels')).toContain('edge')
    expect(await ok('stacks', 'delete', 'garden', '--yes')).toBe('Stack garden is gone.\n')
    expect((await cairn('stacks', 'show', 'garden')).code).toBe(4)
  })

  it('keep what is live when only the record is deleted', async () => {
    write('fleet.yaml', label('edge'))
    await ok('apply', '-f', 'fleet.yaml', '--yes')
    await ok('stacks', 'delete', 'fleet', '--keep-resources', '--yes')
    expect(await ok('get', 'Label', 'edge')).toContain('stack: null')
    expect((await cairn('get', 'Label', 'nobody')).code).toBe(4)
    const empty = await cairn('export', '--kind', 'Machine', '--all')
    expect(empty).toEqual({ code: 0, stdout: '', stderr: 'Nothing matched; the bundle is empty.\n' })
  })
})

describe('tokens', () => {
  it('decide through the command line who may do what', async () => {
    write('fleet.yaml', label('edge'))
    const tokenFor = async (role: string, ...more: string[]) => {
      const { text, token } = await json('token', 'create', `${role}-token`, '--role', role, ...more)
      return { file: write(`${role}.token`, `${text}\n`), text: String(text), id: String(token.id) }
    }
    const viewer = await tokenFor('viewer')
    const plan = await cairn('plan', '-f', 'fleet.yaml', '--token-file', viewer.file)
    expect(plan.code).toBe(0)
    const apply = await cairn('apply', '-f', 'fleet.yaml', '--yes', '--token-file', viewer.file, '--json')
    expect([apply.code, codeOf(apply.stdout)]).toEqual([
      4,
      expect.stringMatching(/^(access|auth|request|role|token)\./),
    ])
    expect((await cairn('history', '--token-file', viewer.file)).code).toBe(4)

    const operator = await tokenFor('operator', '--expires-in', '1h')
    const env = { CAIRN_TOKEN: operator.text, CAIRN_SERVER: server.url }
    expect((await ground.cairn(['apply', '-f', 'fleet.yaml', '--yes'], { env })).code).toBe(0)
    expect((await ground.cairn(['token', 'list'], { env })).code).toBe(4)

    const machine = await tokenFor('machine', '--machine', 'atlas')
    expect((await cairn('get', 'Label', '--token-file', machine.file)).code).toBe(4)

    await ok('token', 'revoke', operator.id)
    expect((await ground.cairn(['stacks', 'list'], { env })).code).toBe(4)
    const nobody = await ground.cairn(['stacks', 'list'], { env: { CAIRN_SERVER: server.url } })
    expect({ code: nobody.code, said: nobody.stderr }).toEqual({
      code: 4,
      said: expect.stringContaining('--token-file'),
    })
    expect(await ok('token', 'list')).toMatch(/operator-token +operator .*revoked/)
    expect(await ok('history')).toContain('viewer-token (viewer)')
  })
})

describe('backup and restore', () => {
  it('bring everything back elsewhere, secrets too, from a server that runs', async () => {
    write(
      'store.yaml',
      'kind: Datastore\nmetadata: { name: store }\nspec: { username: me, password: { secretRef: { key: pw } } }\n',
    )
    write('pw', 'of-the-backup')
    await ok('apply', '-f', 'store.yaml', '--yes', '--secret-file', 'pw=pw')
    await ok('backup', 'all.backup')
    expect((await cairn('backup', 'all.backup')).code).toBe(4)
    const elsewhere = join(ground.directory, 'elsewhere')
    await ok('restore', 'all.backup', '--data', elsewhere)
    expect((await cairn('restore', 'all.backup', '--data', elsewhere)).code).toBe(4)
    expect((await cairn('restore', 'all.backup')).code).toBe(4)
    const second = await ground.startServer({ data: elsewhere })
    // The same value is the same secret: nothing to do.
    const same = await second.cairn(['apply', '-f', 'store.yaml', '--yes', '--secret-file', 'pw=pw'], {
      cwd: ground.directory,
    })
    expect(same).toMatchObject({ code: 0, stdout: 'No changes. Stack store is as declared.\n' })
    await second.stop()
  })
})

describe('for others than this computer', () => {
  it('speaks TLS with a certificate of its own, which the command line trusts by --ca-file only', async () => {
    const open = await ground.startServer({ listen: '0.0.0.0:0' })
    expect(open.url).toMatch(/^https:\/\/localhost:\d+$/)
    const local = await open.cairn(['stacks', 'list'])
    expect(local.code).toBe(0)
    const caFile = join(open.data, 'ca.crt')
    expect(existsSync(caFile)).toBe(true)
    const env = { CAIRN_TOKEN: open.adminToken }
    const trusted = await ground.cairn(['stacks', 'list', '--server', open.url, '--ca-file', caFile], { env })
    expect(trusted.code).toBe(0)
    const distrusted = await ground.cairn(['stacks', 'list', '--server', open.url], { env })
    expect({ code: distrusted.code, said: distrusted.stderr }).toEqual({
      code: 1,
      said: expect.stringContaining('--ca-file'),
    })
    const plain = await ground.cairn(['stacks', 'list', '--server', open.url.replace('https', 'http')], { env })
    expect(plain.code).toBe(1)
    await open.stop()
  })

  it('never sends a token in clear over a network', async () => {
    const env = { CAIRN_TOKEN: server.adminToken }
    const { code, stderr } = await ground.cairn(['stacks', 'list', '--server', 'http://192.0.2.1:8420'], { env })
    expect({ code, stderr }).toEqual({ code: 4, stderr: expect.stringContaining('https') })
  })
})

describe('on a terminal', () => {
  const talk = (words: readonly string[], dialogue: Parameters<typeof onTerminal>[1]) => {
    const home = join(ground.directory, 'home')
    mkdirSync(home, { recursive: true })
    return onTerminal(ground.command(...words), dialogue, {
      env: { CAIRN_DATA: server.data, HOME: home },
      cwd: ground.directory,
    })
  }

  it('asks for missing values, then for secrets without showing them, shows the plan, and asks once', async () => {
    write(
      'store.yaml',
      'kind: Datastore\nmetadata: { name: store }\nspec: { username: { envRef: { key: user } }, password: { secretRef: { key: pw } } }\n',
    )
    const { code, screen } = await talk(
      ['apply', '-f', 'store.yaml'],
      [
        { question: 'Value of user: ', type: 'fleet\r' },
        { question: 'Secret pw: ', type: 'hunter2\r' },
        { question: 'Apply? [y/N] ', type: 'y\r' },
      ],
    )
    expect({ code, screen }).toEqual({ code: 0, screen: expect.stringContaining('+ Datastore/store') })
    expect(screen).toContain('Applied to stack store: 1 created')
    expect(screen).not.toContain('hunter2')
    expect((await json('get', 'Datastore', 'store')).spec.username).toBe('fleet')
    expect((await json('secret', 'list')).secrets).toMatchObject([{ key: 'pw' }])
  })

  it('wants the number of deletes typed, and ends with 4 for any other answer', async () => {
    write('fleet.yaml', ['one', 'two', 'three'].map(name => label(name)).join('---\n'))
    await ok('apply', '-f', 'fleet.yaml', '--yes')
    write('fleet.yaml', label('one'))
    const question = 'Type 2 to delete that many and go on: '
    const declined = await talk(['apply', '-f', 'fleet.yaml'], [{ question, type: 'y\r' }])
    expect({ code: declined.code, screen: declined.screen }).toEqual({
      code: 4,
      screen: expect.stringContaining('nothing was changed'),
    })
    expect((await json('get', 'Label')).resources).toHaveLength(3)
    const typed = await talk(['apply', '-f', 'fleet.yaml'], [{ question, type: '2\r' }])
    expect({ code: typed.code, screen: typed.screen }).toEqual({
      code: 0,
      screen: expect.stringContaining('2 deleted'),
    })
    expect((await json('get', 'Label')).resources).toHaveLength(1)
  })

  it('takes no for an answer, and an end of input too', async () => {
    write('fleet.yaml', label('edge'))
    for (const type of ['n\r', '\r', '\u0004']) {
      const { code } = await talk(['apply', '-f', 'fleet.yaml'], [{ question: 'Apply? [y/N] ', type }])
      expect([type, code]).toEqual([type, 4])
    }
    expect((await json('stacks', 'list')).stacks).toEqual([])
  })

  it('asks nothing where nothing is to be done', async () => {
    write('fleet.yaml', label('edge'))
    await ok('apply', '-f', 'fleet.yaml', '--yes')
    const { code, screen } = await talk(['apply', '-f', 'fleet.yaml'], [])
    expect({ code, screen: screen.trim() }).toEqual({ code: 0, screen: 'No changes. Stack fleet is as declared.' })
  })
})
