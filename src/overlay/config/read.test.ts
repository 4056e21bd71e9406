import { describe, expect, it } from 'vitest'
import { readOverlayConfig } from './read.ts'

const read = (config: unknown) =>
  readOverlayConfig({
    file: 'overlay.json',
    text: typeof config === 'string' ? config : JSON.stringify(config, null, 2),
  })

const codes = (config: unknown) => read(config).problems.map(({ code, path }) => `${code} ${path}`)

const inline = { type: 'inline', content: 'x', path: 'x' }
const withEtc = (...files: object[]) => ({
  version: 'v1',
  packageByNames: { a: { version: '1', source: inline, etcFiles: files } },
})
const withUnit = (key: string, unit: object) => ({
  version: 'v1',
  packageByNames: { web: { version: '1', source: inline } },
  systemdUnitsByName: { [key]: { version: '1', packages: ['web'], ...unit } },
})
const service = '[Service]\nExecStart=/bin/true\n'

describe('readOverlayConfig', () => {
  it("reads the seed's example as it stands", () => {
    const config = {
      version: 'v1',
      packageByNames: {
        containerd: {
          version: '1.7.0',
          source: { type: 'url+tar', uri: 'https://mirror.example/containerd.tar.gz' },
          etcFiles: [{ source: 'etc/containerd/config.toml', target: 'containerd/config.toml' }],
        },
      },
      systemdUnitsByName: {
        containerd: {
          version: '1',
          packages: ['containerd'],
          templateInline:
            '[Unit]\nDescription=containerd\n[Service]\nExecStart={{.GetPackagePath "containerd" "bin" "containerd"}}\nEnvironment=PATH={{.GetPathEnv}}\n',
        },
      },
    }
    expect(read(config)).toMatchObject({ problems: [], config })
  })

  it('takes a config without packages and units for an empty overlay', () => {
    expect(codes({ version: 'v1' })).toEqual([])
  })

  it('says where the text stops being JSON', () => {
    expect(read('{\n  "version": "v1",\n  oops\n}').problems).toMatchObject([
      { code: 'json.syntax', source: { file: 'overlay.json', line: 3, column: 3 } },
    ])
  })

  it('names both places of a key that stands twice', () => {
    const [problem] = read('{\n "version": "v1",\n "version": "v2"\n}').problems
    expect(problem).toMatchObject({ code: 'key.duplicate', path: 'version', source: { line: 3, column: 2 } })
    expect(problem?.reason).toContain('line 2, column 2')
  })

  it.each<[string, unknown, string[]]>([
    ['an unknown key', { version: 'v1', packagesByName: {} }, ['key.unknown packagesByName']],
    ['a wrong type', { version: 1 }, ['value.type version']],
    ['a missing version', {}, ['value.missing version']],
    ['a version that climbs', { version: '../x' }, ['name.invalid version']],
    ['a version in unicode', { version: 'vé' }, ['name.invalid version']],
    ['a version with a trailing dot', { version: 'v1.' }, ['name.invalid version']],
    ['a version of 129 characters', { version: 'v'.repeat(129) }, ['name.invalid version']],
    [
      'a package name with a slash',
      { version: 'v1', packageByNames: { 'a/b': { version: '1', source: inline } } },
      ['name.invalid packageByNames["a/b"]'],
    ],
    [
      'an unknown source type',
      { version: 'v1', packageByNames: { a: { version: '1', source: { type: 'git' } } } },
      ['value.not-allowed packageByNames.a.source.type'],
    ],
    [
      'an absolute target',
      withEtc({ source: 'x', target: '/etc/x' }),
      ['etc.target-invalid packageByNames.a.etcFiles[0].target'],
    ],
    [
      'a target that climbs',
      withEtc({ source: 'x', target: '../x' }),
      ['etc.target-invalid packageByNames.a.etcFiles[0].target'],
    ],
    [
      'a target with an empty part',
      withEtc({ source: 'x', target: 'a//b' }),
      ['etc.target-invalid packageByNames.a.etcFiles[0].target'],
    ],
    [
      'a target below static',
      withEtc({ source: 'x', target: 'static/x' }),
      ['etc.target-invalid packageByNames.a.etcFiles[0].target'],
    ],
    [
      'a target with a newline',
      withEtc({ source: 'x', target: 'a\nb' }),
      ['etc.target-invalid packageByNames.a.etcFiles[0].target'],
    ],
    [
      'the same target twice',
      withEtc({ source: 'x', target: 'a' }, { source: 'x', target: 'a' }),
      ['etc.duplicate-target packageByNames.a.etcFiles[1]'],
    ],
    [
      'a target above another',
      withEtc({ source: 'x', target: 'a' }, { source: 'x', target: 'a/b' }),
      ['etc.prefix-conflict packageByNames.a.etcFiles[1]'],
    ],
    [
      'a source that climbs',
      withEtc({ source: '../x', target: 'x' }),
      ['etc.source-invalid packageByNames.a.etcFiles[0].source'],
    ],
    [
      'a mode that is none',
      withEtc({ source: 'x', target: 'x', mode: '9999' }),
      ['etc.mode-invalid packageByNames.a.etcFiles[0].mode'],
    ],
    [
      'a protected target',
      withEtc({ source: 'x', target: 'sudoers.d/x' }),
      ['etc.protected packageByNames.a.etcFiles[0]'],
    ],
    [
      'a link with a mode',
      withEtc({ source: 'x', target: 'x', kind: 'link', mode: '0600' }),
      ['etc.link-with-mode packageByNames.a.etcFiles[0]'],
    ],
    [
      'a unit that takes the target of an etc file',
      {
        ...withUnit('web', { templateInline: service }),
        packageByNames: {
          web: { version: '1', source: inline, etcFiles: [{ source: 'x', target: 'systemd/system/web.service' }] },
        },
      },
      ['etc.duplicate-target systemdUnitsByName.web'],
    ],
    [
      'a template that names an undeclared package',
      withUnit('web', { templateInline: '[Service]\nExecStart={{.GetPackagePath "nginx"}}\n' }),
      ['template.undeclared-package systemdUnitsByName.web.templateInline'],
    ],
    [
      'an unknown helper',
      withUnit('web', { templateInline: '[Service]\nExecStart={{.GetHome}}\n' }),
      ['template.syntax systemdUnitsByName.web.templateInline'],
    ],
    [
      'an unclosed action',
      withUnit('web', { templateInline: '[Service]\nExecStart={{.GetPathEnv\n' }),
      ['template.syntax systemdUnitsByName.web.templateInline'],
    ],
    [
      'a unit without a section',
      withUnit('web', { templateInline: 'ExecStart=/bin/true\n' }),
      ['unit.syntax systemdUnitsByName.web.templateInline'],
    ],
    [
      'contradicting policy keys',
      withUnit('web', { templateInline: `${service}X-SwitchMethod=restart\nX-RestartIfChanged=false\n` }),
      ['unit.policy-conflict systemdUnitsByName.web.templateInline'],
    ],
    [
      'a package that is not there',
      withUnit('web', { packages: ['wev'], templateInline: service }),
      ['package.unknown systemdUnitsByName.web.packages[0]'],
    ],
    [
      'two keys for one unit',
      {
        version: 'v1',
        systemdUnitsByName: {
          web: { version: '1', templateInline: service },
          'web.service': { version: '1', templateInline: service },
        },
      },
      ['unit.duplicate systemdUnitsByName["web.service"]', 'etc.duplicate-target systemdUnitsByName["web.service"]'],
    ],
    [
      'a trigger on a target that is not there',
      withUnit('web', { templateInline: service, restartOn: ['web/config'] }),
      ['unit.unknown-trigger systemdUnitsByName.web.restartOn[0]'],
    ],
    [
      'packages in a circle',
      {
        version: 'v1',
        packageByNames: {
          a: { version: '1', source: inline, packages: ['b'] },
          b: { version: '1', source: inline, packages: ['a'] },
        },
      },
      ['package.cycle packageByNames.a.packages'],
    ],
    [
      'a check without a duration',
      { version: 'v1', checks: [{ name: 'x', tcp: 'a:1', within: 'soon' }] },
      ['duration.invalid checks[0].within'],
    ],
  ])('refuses %s', (_, config, expected) => expect(codes(config)).toEqual(expected))

  it('names both packages of a duplicate target', () => {
    const file = { source: 'x', target: 'shared' }
    const entry = { version: '1', source: inline, etcFiles: [file] }
    const [problem] = read({ version: 'v1', packageByNames: { first: entry, second: entry } }).problems
    expect(problem?.reason).toMatch(/first.*second/)
  })

  it('spells out a circle of packages in order', () => {
    const pkg = (...packages: string[]) => ({ version: '1', source: inline, packages })
    const [problem] = read({ version: 'v1', packageByNames: { a: pkg('b'), b: pkg('c'), c: pkg('a') } }).problems
    expect(problem?.reason).toContain('a → b → c → a')
  })

  it('gathers faults of every kind, each at its line', () => {
    const text = `{
  "version": "../x",
  "packageByNames": {
    "a": { "version": "1", "sorce": {}, "source": { "type": "inline", "content": "x", "path": "x" } },
    "b": { "version": "1", "source": { "type": "inline", "content": "x", "path": "x" },
           "etcFiles": [{ "source": "x", "target": "/x" }] }
  },
  "systemdUnitsByName": {
    "web": { "version": "1", "templateInline": "{{.Nope}}" }
  }
}`
    expect(
      read(text)
        .problems.map(({ code, source }) => `${source?.line} ${code}`)
        .sort(),
    ).toEqual(['2 name.invalid', '4 key.unknown', '6 etc.target-invalid', '9 template.syntax'])
  })

  it('hints at the key that was meant', () => {
    expect(read({ version: 'v1', packageByName: {} }).problems[0]?.hint).toContain('packageByNames')
  })
})
