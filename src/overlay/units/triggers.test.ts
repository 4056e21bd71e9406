import { describe, expect, it } from 'vitest'
import { sha256Hex } from '../../lib/json.ts'
import type { EtcTarget, Sha256 } from '../names.ts'
import { type TriggeredUnit, withTriggers } from './triggers.ts'
import { unit } from './units.fake.ts'

const etc = new Map(
  ['caddy/Caddyfile', 'caddy/routes', 'default/web', 'web.d', 'systemd/system/a.service'].map(target => [
    target as EtcTarget,
    sha256Hex(target) as Sha256,
  ]),
)
const path = 'systemdUnitsByName.web'
const trigger = (target: string) => `${target}:${sha256Hex(target).slice(0, 16)}`

function triggersOf(text: string, more: Partial<TriggeredUnit> = {}) {
  const result = withTriggers({ name: unit('web.service'), config: {}, path, text, ...more }, etc)
  return result.text.split('\n').filter(line => line.startsWith('X-'))
}

describe('withTriggers', () => {
  it.each([
    ['EnvironmentFile=-/etc/default/web', ['default/web']],
    ['ExecStart=/bin/caddy --config /etc/caddy/Caddyfile', ['caddy/Caddyfile']],
    ['ExecStart=/bin/caddy --config=/etc/caddy/Caddyfile,/etc/caddy/routes', ['caddy/Caddyfile', 'caddy/routes']],
    ['Environment="A=/etc/caddy/routes" \'B=/etc/default/web\'', ['caddy/routes', 'default/web']],
    ['BindReadOnlyPaths=/etc/caddy/routes:/srv/routes', ['caddy/routes']],
    ['ExecStart=/bin/sh -c "cat /etc/default/web; exec x"', ['default/web']],
    ['ExecStart=/bin/x /etc/web.d/inner/file', ['web.d']],
    ['ExecStart=/bin/x /etc/caddy/routes2 /etc/caddy /etc/caddy/routes.bak', []],
    ['ExecStart=/bin/x /opt/etc/caddy/routes $ROOT/etc/default/web \x24{ROOT}/etc/default/web', []],
    ['ExecStart=/bin/x /etc/systemd/system/a.service', []],
    ['ExecStart=/bin/x\n# /etc/caddy/routes', []],
  ])('infers from %j that a change restarts the unit', (line, targets) => {
    expect(triggersOf(`[Service]\n${line}\n`)).toEqual(targets.map(target => `X-Restart-Triggers=${trigger(target)}`))
  })

  it('does not look at what cannot change a process', () => {
    expect(triggersOf('[Unit]\nDescription=/etc/caddy/routes\nDocumentation=file:/etc/caddy/routes\n')).toEqual([])
  })

  it('infers a reload where the unit can reload', () => {
    for (const line of ['ExecReload=/r', 'Type=notify-reload'])
      expect(triggersOf(`[Service]\nExecStart=/a /etc/caddy/routes\n${line}\n`)).toEqual([
        `X-Reload-Triggers=${trigger('caddy/routes')}`,
      ])
  })

  it('looks into drop-ins, and leaves path units to watch by themselves', () => {
    const dropIns = { '1.conf': '[Service]\nEnvironmentFile=/etc/default/web\n' }
    expect(triggersOf('[Service]\nExecStart=/a\n', { dropIns })).toEqual([
      `X-Restart-Triggers=${trigger('default/web')}`,
    ])
    expect(triggersOf('[Path]\nPathChanged=/etc/default/web\n', { name: unit('web.path') })).toEqual([])
  })

  it('infers nothing when told what to watch, or not to', () => {
    const text = '[Service]\nExecStart=/a /etc/caddy/routes\nExecReload=/r\n'
    expect(triggersOf(text, { config: { triggers: 'none' } })).toEqual([])
    const config = { restartOn: ['default/web'], reloadOn: ['web.d', 'caddy/Caddyfile'] }
    expect(triggersOf(text, { config })).toEqual([
      `X-Restart-Triggers=${trigger('default/web')}`,
      `X-Reload-Triggers=${trigger('caddy/Caddyfile')}`,
      `X-Reload-Triggers=${trigger('web.d')}`,
    ])
  })

  it('writes into the section [Unit] and leaves the rest as it was', () => {
    const line = `X-Restart-Triggers=${trigger('default/web')}\n`
    const write = (text: string) =>
      withTriggers({ name: unit('web.service'), text, config: { restartOn: ['default/web'] }, path }, etc).text
    expect(write('# c\n[Unit]\nA=1\n[Service]\nB=2')).toBe(`# c\n[Unit]\n${line}A=1\n[Service]\nB=2`)
    expect(write('[Unit]\r\nA=1\r\n')).toBe(`[Unit]\r\n${line}A=1\r\n`)
    expect(write('stray=1\n[Service]\nB=2 \\')).toBe(`stray=1\n[Unit]\n${line}[Service]\nB=2 \\`)
    expect(write('\uFEFF[Service]\nB=2')).toBe(`[Unit]\n${line}[Service]\nB=2`)
    expect(write('[Service]\nE=a \\\n[Unit]\n')).toBe(`[Unit]\n${line}[Service]\nE=a \\\n[Unit]\n`)
  })

  it('leaves a unit without triggers alone', () => {
    expect(withTriggers({ name: unit('web.service'), text: '[Service]', config: {}, path }, etc)).toEqual({
      text: '[Service]',
      problems: [],
    })
  })

  it('refuses targets that nobody puts there, with the nearest name', () => {
    const config = { restartOn: ['caddy/router', 'default/web'], reloadOn: ['/etc/caddy/routes'] }
    const text = '[Service]\nExecReload=/r\n'
    expect(withTriggers({ name: unit('web.service'), text, config, path }, etc).problems).toMatchObject([
      { code: 'unit.unknown-trigger', path: `${path}.restartOn[0]`, hint: 'did you mean "caddy/routes"?' },
      { code: 'unit.unknown-trigger', path: `${path}.reloadOn[0]`, hint: 'did you mean "caddy/routes"?' },
    ])
  })

  it('refuses reloadOn for a unit that cannot reload', () => {
    const config = { reloadOn: ['default/web'] }
    expect(withTriggers({ name: unit('web.service'), text: '[Service]\n', config, path }, etc).problems).toMatchObject([
      { code: 'unit.cannot-reload', path: `${path}.reloadOn` },
    ])
  })
})
