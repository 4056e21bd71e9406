// Whatever is wrong with a config, with what it names or with what stands in its way: the answer says what and where, all of
// it at once, and the machine is as it was. Shown through the program, on a machine that already has a generation.
import { execFileSync } from 'node:child_process'
import { mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { tarOf } from '../../src/lib/archive/archives.fake.ts'
import type { EtcFileConfig, OverlayConfig, PackageSource } from '../../src/resources/overlay-config.ts'
import type { EtcSnapshot } from '../machine/etc-snapshot.ts'
import { type BlobServer, serveBlobs } from './blob-server.ts'
import { type RootlessMachine, rootlessMachine } from './rootless.ts'

interface Refused {
  readonly error: {
    readonly code: string
    readonly problems: readonly {
      readonly code: string
      readonly path: string
      readonly reason: string
      readonly hint?: string
      readonly source?: { readonly file: string; readonly line: number; readonly column: number }
    }[]
  }
}

let machine: RootlessMachine
let server: BlobServer
let before: EtcSnapshot

beforeAll(async () => {
  machine = await rootlessMachine()
  server = await serveBlobs({
    'leading-out.tar': tarOf([{ name: 'conf', kind: 'symlink', link: '/etc/passwd' }]),
    'page.tar.gz': Buffer.from('<!doctype html><title>Please log in</title>'),
    forbidden: (_, response) => response.writeHead(403).end(),
    elsewhere: (_, response) => response.writeHead(302, { location: 'ftp://127.0.0.1/x' }).end(),
    short: (_, response) => {
      response.writeHead(200, { 'content-length': 100 })
      response.write('0123456789', () => setImmediate(() => response.destroy()))
    },
  })
  expect(await machine.node('apply', withEtc({ source: 'x', target: 'app/conf' }))).toMatchObject({ code: 0 })
  // So that the places for content, and for what is thrown away, are there already.
  await machine.node('prepare', withSource({ type: 'url', uri: server.url('page.tar.gz') }))
  await machine.node('gc')
  before = machine.snapshot()
})
afterAll(async () => {
  await server?.close()
  machine?.user.remove()
})

const inline: PackageSource = { type: 'inline', content: 'x', path: 'x' }
const service = '[Service]\nExecStart=/bin/true\n'
const withEtc = (...etcFiles: EtcFileConfig[]): OverlayConfig => ({
  version: 'v1',
  packageByNames: { a: { version: '1', source: inline, etcFiles } },
})
const withSource = (source: PackageSource): OverlayConfig => ({
  version: 'v1',
  packageByNames: { a: { version: '1', source } },
})
const withUnit = (templateInline: string, more: object = {}) => ({
  version: 'v1',
  packageByNames: { web: { version: '1', source: inline } },
  systemdUnitsByName: { web: { version: '1', packages: ['web'], templateInline, ...more } },
})
const etcFile = 'packageByNames.a.etcFiles[0]'
const template = 'systemdUnitsByName.web.templateInline'

/** Its problems; nothing on the machine is other than before. */
async function refused(config: object | string, exit: 3 | 4, options = '') {
  const { code, said } = await machine.node<Refused>(`apply${options}`, config)
  expect(machine.snapshot()).toEqual(before)
  expect(code, JSON.stringify(said)).toBe(exit)
  return said.error.problems
}

const named = (problems: Refused['error']['problems']) => problems.map(({ code, path }) => `${code} ${path}`)

describe('a config', () => {
  it.each<[string, object | string, string]>([
    ['that is not JSON', '{\n  "version": "v1",\n  oops\n}', 'json.syntax '],
    ['with a key twice', '{"version": "v1", "version": "v2"}', 'key.duplicate version'],
    ['with an unknown field', { version: 'v1', packageByName: {} }, 'key.unknown packageByName'],
    ['with a wrong type', { version: 1 }, 'value.type version'],
    ['without a version', {}, 'value.missing version'],
    ['with a version that climbs', { version: '../x' }, 'name.invalid version'],
    ['with a version in unicode', { version: 'vé' }, 'name.invalid version'],
    ['with a version that ends in a dot', { version: 'v1.' }, 'name.invalid version'],
    ['with a version of 129 characters', { version: 'v'.repeat(129) }, 'name.invalid version'],
    ['with an absolute target', withEtc({ source: 'x', target: '/etc/x' }), `etc.target-invalid ${etcFile}.target`],
    ['with a target that climbs', withEtc({ source: 'x', target: '../x' }), `etc.target-invalid ${etcFile}.target`],
    ['with an empty part', withEtc({ source: 'x', target: 'a//b' }), `etc.target-invalid ${etcFile}.target`],
    [
      'with a target below static',
      withEtc({ source: 'x', target: 'static/x' }),
      `etc.target-invalid ${etcFile}.target`,
    ],
    ['with a newline in a target', withEtc({ source: 'x', target: 'a\nb' }), `etc.target-invalid ${etcFile}.target`],
    ['with a source that climbs', withEtc({ source: '../x', target: 'x' }), `etc.source-invalid ${etcFile}.source`],
    [
      'with a mode that is none',
      withEtc({ source: 'x', target: 'x', mode: '9999' }),
      `etc.mode-invalid ${etcFile}.mode`,
    ],
    ['with a protected target', withEtc({ source: 'x', target: 'sudoers.d/x' }), `etc.protected ${etcFile}`],
    [
      'with a malformed checksum',
      withSource({ ...inline, checksum: 'sha256:x' }),
      'source.checksum-syntax packageByNames.a.source.checksum',
    ],
    [
      'with an address that is none',
      withSource({ type: 'url', uri: 'nowhere' }),
      'source.uri-invalid packageByNames.a.source.uri',
    ],
    [
      'with a file that is not there',
      withSource({ type: 'file', uri: './nothing' }),
      'source.not-found packageByNames.a.source.uri',
    ],
    [
      'with a path out of the package',
      withSource({ ...inline, path: '../x' }),
      'source.path-invalid packageByNames.a.source.path',
    ],
    [
      'with an unknown package in a template',
      withUnit('[Service]\nExecStart={{.GetPackagePath "nginx"}}\n'),
      `template.undeclared-package ${template}`,
    ],
    ['with an unknown helper', withUnit('[Service]\nExecStart={{.GetHome}}\n'), `template.syntax ${template}`],
    ['with an unclosed action', withUnit('[Service]\nExecStart={{.GetPathEnv\n'), `template.syntax ${template}`],
    ['with a unit without section', withUnit('ExecStart=/bin/true\n'), `unit.syntax ${template}`],
    ['with a unit that is not text', withUnit(`${service}Environment=A=\0\n`), `unit.encoding ${template}`],
    [
      'with contradicting policies',
      withUnit(`${service}X-SwitchMethod=restart\nX-RestartIfChanged=false\n`),
      `unit.policy-conflict ${template}`,
    ],
    [
      'with a trigger that nobody brings',
      withUnit(service, { restartOn: ['y'] }),
      'unit.unknown-trigger systemdUnitsByName.web.restartOn[0]',
    ],
  ])('%s is refused', async (_, config, expected) => {
    const problems = await refused(config, 3)
    expect(named(problems)).toEqual([expected])
    expect(problems[0]?.source).toMatchObject({
      file: expect.stringMatching(/overlay\.json$/),
      line: expect.any(Number),
    })
  })

  it('is told where both places of a double key are, and which name was meant', async () => {
    const [twice] = await refused('{\n "version": "v1",\n "version": "v2"\n}', 3)
    expect(twice).toMatchObject({ source: { line: 3, column: 2 }, reason: expect.stringContaining('line 2, column 2') })
    const [unknown] = await refused({ version: 'v1', packageByName: {} }, 3)
    expect(unknown?.hint).toContain('packageByNames')
  })

  it('with one target of two packages is refused, and both are named', async () => {
    const pair = (first: string, second: string) => ({
      version: 'v1',
      packageByNames: Object.fromEntries(
        [
          ['first', first],
          ['second', second],
        ].map(([name, target]) => [name, { version: '1', source: inline, etcFiles: [{ source: 'x', target }] }]),
      ),
    })
    const [twice, ...others] = await refused(pair('shared', 'shared'), 3)
    expect(others).toEqual([])
    expect(twice).toMatchObject({ code: 'etc.duplicate-target', reason: expect.stringMatching(/first.*second/) })
    const [prefix] = await refused(pair('a', 'a/b'), 3)
    expect(prefix).toMatchObject({ code: 'etc.prefix-conflict', reason: expect.stringMatching(/second.*first/) })
  })

  it('with packages in a circle is refused, and the circle is spelled out', async () => {
    const pkg = (needs: string) => ({ version: '1', source: inline, packages: [needs] })
    const problems = await refused({ version: 'v1', packageByNames: { a: pkg('b'), b: pkg('c'), c: pkg('a') } }, 3)
    expect(problems).toMatchObject([{ code: 'package.cycle', reason: expect.stringContaining('a → b → c → a') }])
  })

  it('is told what to set where a protected target is meant', async () => {
    const [problem] = await refused(withEtc({ source: 'x', target: 'passwd' }), 3)
    expect(problem?.hint).toContain(`allowProtected: true on ${etcFile}`)
  })

  it('has all its faults in one answer, each at its line', async () => {
    const problems = await refused(
      `{
  "version": "../x",
  "packageByNames": {
    "a": { "version": "1", "sorce": {}, "source": { "type": "inline", "content": "x", "path": "x" } },
    "b": { "version": "1", "source": { "type": "inline", "content": "x", "path": "x" },
           "etcFiles": [{ "source": "x", "target": "/x" }, { "source": "x", "target": "y", "mode": "rw" }] }
  },
  "systemdUnitsByName": {
    "web": { "version": "1", "templateInline": "{{.Nope}}" }
  }
}`,
      3,
    )
    expect(problems.map(({ code, source }) => `${source?.line} ${code}`)).toEqual([
      '2 name.invalid',
      '4 key.unknown',
      '6 etc.target-invalid',
      '6 etc.mode-invalid',
      '9 template.syntax',
    ])
  })

  it('that is bad leaves no trace on a machine that never saw Cairn', async () => {
    const fresh = `${machine.user.home}/fresh`
    const file = machine.user.write('bad.json', '{"version": "../x"}')
    for (const command of ['prepare', 'plan', 'apply']) {
      const { code } = await machine.user.cairn('node', command, '-f', file, '--root', fresh)
      expect([command, code]).toEqual([command, 3])
    }
    expect(() => mkdirSync(fresh)).not.toThrow()
    rmSync(fresh, { recursive: true })
  })

  it('that cannot be read is refused', async () => {
    const { code, stdout } = await machine.user.cairn(
      'node',
      'plan',
      '-f',
      'nothing.json',
      '--root',
      machine.root,
      '--json',
    )
    expect({ code, said: JSON.parse(stdout) }).toMatchObject({
      code: 3,
      said: { error: { problems: [{ code: 'input.unreadable' }] } },
    })
  })
})

describe('a source', () => {
  const source = 'packageByNames.a.source'

  it.each<[string, string, Partial<PackageSource>, string]>([
    ['that the server does not have', 'nothing', {}, `source.not-found ${source}.uri`],
    ['that the server forbids', 'forbidden', {}, `source.unauthorized ${source}.uri`],
    ['that leads to an unknown place', 'elsewhere', {}, `source.redirect-invalid ${source}.uri`],
    ['that is a page instead of an archive', 'page.tar.gz', { type: 'url+tar' }, `archive.format ${source}.uri`],
  ])('%s is refused, and nothing of it is in the store', async (_, path, more, expected) => {
    const config = withSource({ type: 'url', uri: server.url(path), ...more })
    expect(named(await refused(config, 3))).toEqual([expected])
  })

  it('that breaks off is asked for again, and then refused; what came is kept for who asks for the same next', async () => {
    const { code, said } = await machine.node<Refused>('apply', withSource({ type: 'url', uri: server.url('short') }))
    expect([code, ...named(said.error.problems)]).toEqual([3, `source.truncated ${source}.uri`])
    const pending = machine.inStore().filter(name => name.startsWith('content/pending/'))
    expect(pending).toEqual([expect.any(String), `${pending[0]}.progress`])
    // Another one asks for something else.
    await refused(withSource({ type: 'url', uri: server.url('forbidden') }), 3)
  })

  it('whose server is not there is refused, and keeps what is secret in its address to itself', async () => {
    const gone = await serveBlobs({})
    await gone.close()
    const problems = await refused(withSource({ type: 'url', uri: gone.url('x?token=hunter2') }), 3)
    expect(named(problems)).toEqual([`source.unreachable ${source}.uri`])
    expect(JSON.stringify(problems)).not.toContain('hunter2')
  })

  it.each<[string, PackageSource]>([
    ['a password in its address', { type: 'url', uri: 'http://user:hunter2@127.0.0.1:1/x' }],
    ['a password in the name of its image', { type: 'oci', uri: 'user:hunter2@127.0.0.1:1/x' }],
    ['an address that anybody on the way can answer for', { type: 'url', uri: 'http://192.0.2.1/x?token=hunter2' }],
    ['an image where a file is meant', { type: 'url', uri: '127.0.0.1:1/x:hunter2' }],
    ['a file where an image is meant', { type: 'oci', uri: 'https://127.0.0.1:1/hunter2' }],
  ])('with %s is refused before anybody is asked', async (_, from) => {
    const problems = await refused(withSource(from), 3)
    expect(named(problems)).toEqual([`source.uri-invalid ${source}.uri`])
    expect(JSON.stringify(problems)).not.toContain('hunter2')
  })

  it('without a checksum is refused where checksums are required', async () => {
    const config = withSource({ type: 'url', uri: server.url('forbidden') })
    expect(named(await refused(config, 3, ' --require-checksums'))).toEqual([`source.unpinned ${source}.checksum`])
  })

  it.each<[string, PackageSource | 'archive', string, string]>([
    ['that its package does not have', inline, 'y', 'etc.source-missing'],
    ['that leads out of its package', 'archive', 'conf', 'etc.source-escapes'],
  ])('with an etc file %s is refused once that is known', async (_, from, file, expected) => {
    const archive = { type: 'url+tar', uri: server.url('leading-out.tar'), allowAbsoluteLinks: true } as const
    const config = withSource(from === 'archive' ? archive : from)
    config.packageByNames!.a!.etcFiles = [{ source: file, target: 'x' }]
    const { code, said } = await machine.node<Refused>('apply', config)
    expect(code).toBe(3)
    expect(named(said.error.problems)).toEqual([`${expected} ${etcFile}.source`])
    // The package itself is sound and stays until a collection finds that nobody needs it.
    await machine.node('gc')
    expect(machine.snapshot()).toEqual(before)
  })
})

describe('a machine', () => {
  /** Refused after prepare, so the store may hold more than before; /etc and the generation may not. */
  async function refusedThere(config: object) {
    const etc = () => Object.entries(machine.snapshot()).filter(([path]) => !/^cairn\/(?!current)/.test(path))
    const was = etc()
    const planned = await machine.node<{ problems: unknown[] }>('plan', config)
    const { code, said } = await machine.node<Refused>('apply', config)
    expect(etc()).toEqual(was)
    expect([planned.code, code]).toEqual([4, 4])
    expect(planned.said.problems).toHaveLength(said.error.problems.length)
    return named(said.error.problems)
  }

  it('with anything foreign at a target keeps it, and all of it is listed', async () => {
    machine.user.write('machine/etc/file', 'mine')
    machine.user.write('machine/etc/directory/keep', 'mine')
    symlinkSync('nowhere', machine.etc('link'))
    execFileSync('mkfifo', [machine.etc('fifo')])
    machine.user.write('machine/etc/parent', 'mine')
    const targets = ['file', 'directory', 'link', 'fifo', 'parent/below']
    const config = withEtc(...['app/conf', ...targets].map(target => ({ source: 'x', target })))
    const expected = targets.map((_, index) => `etc.conflict packageByNames.a.etcFiles[${index + 1}]`)
    expect((await refusedThere(config)).sort()).toEqual(expected)
    for (const target of ['file', 'directory', 'link', 'fifo', 'parent'])
      rmSync(machine.etc(target), { recursive: true })
  })

  it('without such a user or group refuses, and an ordinary user gives nothing away', async () => {
    const file = { source: 'x', target: 'x' }
    expect(await refusedThere(withEtc({ ...file, owner: 'no-such-user' }))).toEqual([
      `etc.unknown-owner ${etcFile}.owner`,
    ])
    expect(await refusedThere(withEtc({ ...file, group: 'no-such-group' }))).toEqual([
      `etc.unknown-owner ${etcFile}.group`,
    ])
    expect(await refusedThere(withEtc({ ...file, owner: '+12345' }))).toEqual([
      `etc.owner-not-permitted ${etcFile}.owner`,
    ])
  })

  it('whose /etc is a link refuses', async () => {
    renameSync(machine.etc('.'), `${machine.root}/real-etc`)
    symlinkSync('real-etc', `${machine.root}/etc`)
    try {
      expect(await refusedThere(withEtc({ source: 'x', target: 'other' }))).toEqual(['etc.not-a-directory '])
    } finally {
      rmSync(`${machine.root}/etc`)
      renameSync(`${machine.root}/real-etc`, `${machine.root}/etc`)
    }
  })
})

describe('what only looks bad', () => {
  it('is taken: names with dashes and escapes, a large unit, a config of nothing', async () => {
    const unit = { version: '1', templateInline: service }
    const mount = { version: '1', templateInline: '[Mount]\nWhat=tmpfs\nWhere=/\n' }
    const large = { version: '1', templateInline: `${service}${'# padding\n'.repeat(100_000)}` }
    const systemdUnitsByName = { '-.mount': mount, 'a\\x2db.service': unit, '-x.service': unit, large }
    const { code } = await machine.node('apply', { version: 'odd', systemdUnitsByName })
    expect(code).toBe(0)
    const units = Object.keys(machine.snapshot()).filter(path =>
      /^etc\/systemd\/system\/.*\.(mount|service)$/.test(path),
    )
    expect(units.map(path => path.split('/').at(-1)).sort()).toEqual([
      '-.mount',
      '-x.service',
      'a\\x2db.service',
      'large.service',
    ])

    expect(await machine.node('apply', { version: 'empty' })).toMatchObject({ code: 0 })
    expect(Object.keys(machine.snapshot()).filter(path => path.startsWith('etc/'))).toEqual([])
  })

  it('is taken: ten thousand files and a thousand units', async () => {
    const names = Array.from({ length: 10_000 }, (_, index) => `${index % 100}/${index}`)
    for (const name of names) machine.user.write(`many/${name}`, name)
    const etcFiles = names.map(name => ({ source: name, target: `many/${name}` }))
    const unit = { version: '1', templateInline: service }
    const units = Array.from({ length: 1_000 }, (_, index) => [`unit-${index}`, unit])
    const { code, said } = await machine.node('apply', {
      version: 'many',
      packageByNames: { many: { version: '1', source: { type: 'file', uri: './many' }, etcFiles } },
      systemdUnitsByName: Object.fromEntries(units),
    })
    expect({ code, said }).toMatchObject({ code: 0, said: { etc: { added: 11_000 } } })
    expect(await machine.node('status --exit-code')).toMatchObject({ code: 0 })
  })
})
