import { describe, expect, it } from 'vitest'
import { t } from './etc.fake.ts'
import { checkTargets, type Declared, parseMode, parseSource, parseTarget } from './target.ts'

const codeOf = (result: unknown) => (result as { code?: string }).code

describe('parseTarget', () => {
  it.each(['motd', 'nginx/nginx.conf', '.hidden', 'a b', 'ü', 'systemd/system/-.mount', 'statics/x'])(
    'takes %j',
    text => expect(parseTarget(text, 'x')).toBe(text),
  )

  it.each([
    ['nothing', ''],
    ['an absolute path', '/etc/x'],
    ['a way out of /etc', '../x'],
    ['a way up and down', 'a/../b'],
    ['a dot', './a'],
    ['an empty part', 'a//b'],
    ['an empty part at the end', 'a/'],
    ['static itself', 'static'],
    ['what is below static', 'static/x'],
    ['a newline', 'a\nb'],
    ['a NUL', 'a\0b'],
    ['a control character beyond ASCII', 'a\u0085b'],
    ['half a character', 'a\ud800'],
    ['a part of 256 bytes', 'ü'.repeat(128)],
    ['more than a path may have', `${'x/'.repeat(1200)}x`],
    ['a name that the sweep would remove', 'conf.d/.cairn-tmp-1'],
  ])('refuses %s', (_, text) => {
    expect(parseTarget(text, 'packageByNames.a.etcFiles[0].target')).toMatchObject({
      code: 'etc.target-invalid',
      path: 'packageByNames.a.etcFiles[0].target',
    })
  })

  it('takes a part of 255 bytes', () => {
    const text = `${'x'.repeat(255)}/y`
    expect(parseTarget(text, '')).toBe(text)
  })

  it('says how an absolute target is written', () => {
    expect(parseTarget('/etc/motd', '')).toMatchObject({ hint: 'Write "motd".' })
  })
})

describe('parseSource', () => {
  it('takes every name inside the package, static among them', () => {
    expect(parseSource('static/x', '')).toBe('static/x')
  })

  it.each(['', '/x', '../x', 'a//b', 'a\nb'])('refuses %j', text => {
    expect(codeOf(parseSource(text, ''))).toBe('etc.source-invalid')
  })
})

describe('parseMode', () => {
  it.each([
    ['0644', 0o644],
    ['600', 0o600],
    ['0o755', 0o755],
    ['1777', 0o1777],
    ['0', 0],
  ])('reads %s', (text, mode) => expect(parseMode(text, '')).toBe(mode))

  it.each(['9999', '', 'rw', '0x1ff', '77777', '-644', '6 44', '0o'])('refuses %j', text => {
    expect(parseMode(text, 'p.mode')).toMatchObject({ code: 'etc.mode-invalid', path: 'p.mode' })
  })

  it.each(['4755', '2755', '06755'])('takes %s only with allowProtected', text => {
    expect(parseMode(text, 'p.mode')).toMatchObject({
      code: 'etc.protected',
      hint: expect.stringContaining('allowProtected'),
    })
    expect(parseMode(text, 'p.mode', { allowProtected: true })).toBe(Number.parseInt(text, 8))
  })
})

describe('checkTargets', () => {
  const entry = (target: string, from: string): Declared => ({ target: t(target), from, declaredAt: `of.${from}` })

  it('finds nothing wrong with neighbours', () => {
    expect(checkTargets([entry('a', 'p'), entry('a.d/x', 'p'), entry('a-b', 'q'), entry('b/a', 'q')])).toEqual([])
  })

  it('names both packages of a target that is declared twice, whatever their content', () => {
    const [problem, ...more] = checkTargets([entry('a', 'nginx'), entry('b', 'x'), entry('a', 'caddy')])
    expect(problem).toMatchObject({ code: 'etc.duplicate-target', path: 'of.caddy' })
    expect(problem?.reason).toMatch(/nginx.*caddy/)
    expect(more).toEqual([])
  })

  it('names both packages when a target lies below another, near or far', () => {
    const problems = checkTargets([entry('a/b/c', 'inner'), entry('a', 'outer'), entry('a/b.d', 'beside')])
    expect(problems.map(({ code, path }) => [code, path])).toEqual([
      ['etc.prefix-conflict', 'of.beside'],
      ['etc.prefix-conflict', 'of.inner'],
    ])
    expect(problems[1]?.reason).toMatch(/inner.*outer/)
  })

  it('tells all of it at once, and is not slow with ten thousand', () => {
    const many = Array.from({ length: 10_000 }, (_, index) => entry(`d${index % 100}/f${index}`, 'p'))
    const clashes = [entry('d7', 'q'), entry('d1/f1', 'q'), entry('d1/f1', 'r')]
    const problems = checkTargets([...many, ...clashes])
    expect(problems.filter(({ code }) => code === 'etc.duplicate-target')).toHaveLength(2)
    expect(problems.filter(({ code }) => code === 'etc.prefix-conflict')).toHaveLength(100)
  })
})
