import { describe, expect, it } from 'vitest'
import { type Installable, installLinks } from './enabling.ts'
import { unit } from './units.fake.ts'

function install(units: Record<string, string | (Partial<Installable> & { text: string })>) {
  const entries = Object.entries(units).map(([name, given]) => {
    const options = typeof given === 'string' ? { text: given } : given
    return [unit(name), { enable: true, masked: false, path: `systemdUnitsByName.${name}`, ...options }] as const
  })
  const { entries: links, problems, warnings } = installLinks(new Map(entries))
  return {
    links: links.map(entry =>
      entry.kind === 'direct' ? `${entry.path} -> ${entry.text}` : `${entry.path} = ${entry.unit}`,
    ),
    problems: problems.map(({ code }) => code),
    warnings: warnings.map(({ code }) => code),
  }
}

describe('installLinks', () => {
  it('links a unit below everything that is to want it, once', () => {
    const text =
      '[Install]\nWantedBy=multi-user.target a.target\nWantedBy=a.target\nRequiredBy=b.target\nUpheldBy=c.target\n'
    expect(install({ 'web.service': text })).toEqual({
      links: [
        'a.target.wants/web.service = web.service',
        'b.target.requires/web.service = web.service',
        'c.target.upholds/web.service = web.service',
        'multi-user.target.wants/web.service = web.service',
      ],
      problems: [],
      warnings: [],
    })
  })

  it('makes no links without [Install], and none for a unit that is not enabled', () => {
    const text = '[Install]\nWantedBy=multi-user.target\n'
    expect(install({ 'a.service': '[Service]\nType=simple\n', 'b.service': { text, enable: false } }).links).toEqual([])
  })

  it('reads [Install] through drop-ins', () => {
    const dropIns = { '20.conf': '[Install]\nWantedBy=b.target\n', '10.conf': '[Install]\nWantedBy=\n' }
    expect(install({ 'a.service': { text: '[Install]\nWantedBy=a.target\n', dropIns } }).links).toEqual([
      'b.target.wants/a.service = a.service',
    ])
  })

  it('makes aliases and masks as links by themselves', () => {
    const text = '[Install]\nAlias=www.service web.service\nWantedBy=multi-user.target\n'
    expect(install({ 'web.service': text, 'old.service': { text, masked: true } }).links).toEqual([
      'multi-user.target.wants/web.service = web.service',
      'old.service -> /dev/null',
      'www.service -> web.service',
    ])
  })

  it('enables the default instance of a template, and nothing of a template without one', () => {
    const wanted = '[Install]\nWantedBy=getty.target\n'
    expect(install({ 'getty@.service': `${wanted}DefaultInstance=tty1\n`, 'other@.service': wanted }).links).toEqual([
      'getty.target.wants/getty@tty1.service = getty@.service',
    ])
  })

  it('links a template below a template, whose instances hand theirs on', () => {
    expect(install({ 'a@.service': '[Install]\nWantedBy=b@.target c.target\n' }).links).toEqual([
      'b@.target.wants/a@.service = a@.service',
    ])
  })

  it('enables what Also= names, in this config only, instances included', () => {
    const wanted = '[Install]\nWantedBy=x.target\n'
    const result = install({
      'a.service': '[Install]\nAlso=b.socket c@1.service ssh.service a.service\n',
      'b.socket': { text: `${wanted}Also=a.service\n`, enable: false },
      'c@.service': { text: wanted, enable: false },
    })
    expect(result).toEqual({
      links: ['x.target.wants/b.socket = b.socket', 'x.target.wants/c@1.service = c@.service'],
      problems: [],
      warnings: ['unit.also-elsewhere'],
    })
  })

  it('fills in the specifiers that a name answers, and warns of the others', () => {
    const text =
      '[Install]\nDefaultInstance=x\nWantedBy=%i.target %p-%%.target %N.target dev-%H.device\nAlias=v@%i.service\n'
    const { links, warnings, problems } = install({ 'w@.service': text })
    expect(links).toEqual([
      'v@x.service -> w@.service',
      'w@x.target.wants/w@x.service = w@.service',
      'x.target.wants/w@x.service = w@.service',
    ])
    expect([warnings, problems]).toEqual([['unit.specifier'], ['unit.install-name']])
  })

  it.each([
    ['WantedBy=multi-user', 'unit.install-name'],
    ['WantedBy=../x.target', 'unit.install-name'],
    ['Alias=www.socket', 'unit.alias-invalid'],
    ['Alias=www@.service', 'unit.alias-invalid'],
  ])('refuses %s', (line, code) => {
    expect(install({ 'web.service': `[Install]\n${line}\n` })).toEqual({ links: [], problems: [code], warnings: [] })
  })

  it('refuses aliases of units that systemd gives none', () => {
    expect(install({ 'srv.mount': '[Install]\nAlias=data.mount\n' }).problems).toEqual(['unit.alias-invalid'])
  })
})
