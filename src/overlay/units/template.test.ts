import { describe, expect, it } from 'vitest'
import { renderTemplate, type TemplatePackages } from './template.ts'

const packages: TemplatePackages = {
  declared: ['containerd', 'runc'],
  path: (name, ...parts) => ['/cairn/states', name, ...parts].join('/'),
  binPaths: () => ['/cairn/states/containerd/bin', '/cairn/states/runc/bin'],
}
const where = { path: 'systemdUnitsByName.web.templateInline' }
const render = (text: string) => renderTemplate(text, packages, where)

describe('renderTemplate', () => {
  it.each<[string, string, string]>([
    ['text without actions', 'a } }} b\n', 'a } }} b\n'],
    ['the path of packages', '{{.GetPathEnv}}', '/cairn/states/containerd/bin:/cairn/states/runc/bin'],
    ['a package', '{{.GetPackagePath "runc"}}', '/cairn/states/runc'],
    ['a path in a package', '{{ .GetPackagePath "runc" "bin" "runc" }}!', '/cairn/states/runc/bin/runc!'],
    ['raw strings', '{{.GetPackagePath `runc` `a\\b`}}', '/cairn/states/runc/a\\b'],
    ['escapes', '{{.GetPackagePath "runc" "\\x41\\101\\u00e9\\U0001F600\\"\\\\"}}', '/cairn/states/runc/AAé😀"\\'],
    ['a closing bracket inside a string', '{{.GetPackagePath "runc" "}}"}}.', '/cairn/states/runc/}}.'],
    ['an action over several lines', '{{\n.GetPackagePath\n  "runc"\n}}', '/cairn/states/runc'],
    ['trimming', 'a \n {{- .GetPackagePath "runc" -}} \n b', 'a/cairn/states/runcb'],
    ['trimming on one side', 'a {{- .GetPackagePath "runc"}} b', 'a/cairn/states/runc b'],
    ['comments', 'a{{/* {{ not code }} */}}b{{- /* x */ -}} c', 'abc'],
    ['dollars as they are', '$& $1 {{.GetPackagePath "runc" "$&"}}', '$& $1 /cairn/states/runc/$&'],
  ])('renders %s', (_, text, rendered) => {
    expect(render(text)).toEqual({ text: rendered, problems: [] })
  })

  it('puts the system directories behind those of the packages', () => {
    const defaults = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
    expect(render('{{.GetPathEnvWithSystemDefaults}}').text).toBe(
      `/cairn/states/containerd/bin:/cairn/states/runc/bin:${defaults}`,
    )
    const none = { ...packages, binPaths: () => [] }
    expect(renderTemplate('{{.GetPathEnvWithSystemDefaults}}|{{.GetPathEnv}}', none, where).text).toBe(`${defaults}|`)
  })

  it.each<[string, string, number, number]>([
    ['an unclosed action', 'a\n b {{.GetPathEnv', 2, 4],
    ['an unclosed string', '{{.GetPackagePath "runc', 1, 1],
    ['an unclosed comment', '{{/* a }}', 1, 1],
    ['a comment that goes on', '{{/* a */ .GetPathEnv}}', 1, 10],
    ['a keyword', '\n{{if .GetPathEnv}}', 2, 3],
    ['a pipeline', '{{.GetPathEnv | printf}}', 1, 15],
    ['a variable', '{{$x := 1}}', 1, 3],
    ['a chain', '{{.GetPathEnv.Foo}}', 1, 14],
    ['strings without space between them', '{{.GetPackagePath "runc""bin"}}', 1, 25],
    ['a string alone', '{{"text"}}', 1, 3],
    ['an empty action', 'x{{ }}', 1, 2],
    ['an unknown helper', 'x{{.GetPathEnvironment}}', 1, 2],
    ['arguments where none belong', '{{.GetPathEnv "a"}}', 1, 1],
    ['no package', '{{.GetPackagePath}}', 1, 1],
    ['a field as argument', '{{.GetPackagePath .Name}}', 1, 19],
    ['an unknown escape', '{{.GetPackagePath "\\q"}}', 1, 19],
    ["a quote that needs no escape in Go's strings", '{{.GetPackagePath "\\\'"}}', 1, 19],
    ['half a character', '{{.GetPackagePath "\\xff"}}', 1, 19],
    ['a surrogate', '{{.GetPackagePath "\\ud800"}}', 1, 19],
  ])('refuses %s', (_, text, line, column) => {
    expect(renderTemplate(text, packages, { ...where, file: 'web.tmpl' }).problems).toMatchObject([
      { code: 'template.syntax', path: where.path, source: { file: 'web.tmpl', line, column } },
    ])
  })

  it('says line and column in words when the template has no file of its own', () => {
    expect(render('\n {{.Nothing}}').problems[0]?.reason).toMatch(/^line 2, column 2: /)
  })

  it('lists the declared packages when another one is named', () => {
    expect(render('{{.GetPackagePath "runk" "bin"}}').problems).toMatchObject([
      {
        code: 'template.undeclared-package',
        reason: expect.stringContaining('declared: containerd, runc'),
        hint: 'did you mean "runc"?',
      },
    ])
  })

  it.each(['../etc', 'a/../../b', '/etc/passwd', 'a\\nb'])('keeps "%s" inside the package', part => {
    expect(render(`{{.GetPackagePath "runc" "${part}"}}`).problems).toMatchObject([{ code: 'template.path-escapes' }])
  })

  it('finds all problems of a template', () => {
    const { problems } = render('{{if}}\n{{.GetPackagePath "a"}}\n{{.GetPackagePath "runc" ".."}}\n{{.Get')
    expect(problems.map(({ code }) => code)).toEqual([
      'template.syntax',
      'template.undeclared-package',
      'template.path-escapes',
      'template.syntax',
    ])
  })
})
