import { describe, expect, it } from 'vitest'
import { actionsOf, changed, service, web } from './units.fake.ts'

describe('units that need one which is stopped', () => {
  it.each(['Requires', 'BindsTo', 'PartOf', 'Requisite'])('by %s= are brought back with it', key => {
    const api = {
      'api.service': `${service}[Unit]\n${key}=web.service\n`,
      'cron.service': `${service}[Unit]\nRequires=api.service\n`,
    }
    const scene = { old: web(service, api), new: web(changed, api) }
    expect(actionsOf({ ...scene, live: ['web.service', 'api.service', 'cron.service'] })).toEqual([
      'restart api.service: needs web.service',
      'restart cron.service: needs api.service',
      'restart web.service: ExecStart changed',
    ])
    expect(actionsOf({ ...scene, live: ['web.service'] })).toEqual(['restart web.service: ExecStart changed'])
  })

  it('are only stopped when a timer or a connection brings them back', () => {
    const needing = (more = '') => `[Unit]\nRequires=web.service\n${service}${more}`
    const others = {
      'backup.service': needing('Type=oneshot\n'),
      'backup.timer': '[Timer]\nOnCalendar=daily\n',
      'ssh@.service': needing(),
      'ssh.socket': '[Socket]\nListenStream=22\nAccept=yes\n',
    }
    const live = ['web.service', 'backup.service', 'ssh@1.service', 'ssh.socket', 'backup.timer']
    expect(actionsOf({ old: web(service, others), new: web(changed, others), live })).toEqual([
      'stop backup.service: needs web.service; comes back by itself',
      'stop ssh@1.service: needs web.service; comes back by itself',
      'restart web.service: ExecStart changed',
    ])
  })

  it('are left to systemd when it is restarted in place', () => {
    const api = { 'api.service': `${service}[Unit]\nRequires=web.service\n` }
    expect(
      actionsOf({
        old: web(service, api),
        new: web(`${changed}X-StopIfChanged=false\n`, api),
        live: ['web.service', 'api.service'],
      }),
    ).toEqual(['restart in place web.service: ExecStart changed'])
  })

  it('may be targets that require it by a link', () => {
    const link = { 'multi-user.target.requires/web.service': '-> ../web.service' }
    expect(
      actionsOf({ old: web(service, link), new: web(changed, link), live: ['web.service', 'multi-user.target'] }),
    ).toEqual(['restart web.service: ExecStart changed', '[start multi-user.target: needs web.service]'])
  })
})
