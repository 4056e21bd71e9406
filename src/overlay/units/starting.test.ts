import { describe, expect, it } from 'vitest'
import { actionsOf, aStatus, changed, inStates, service, unit, wanted, web } from './units.fake.ts'

describe('a new unit', () => {
  const live = ['multi-user.target', 'timers.target', 'sockets.target']

  it('starts when an active target wants it, or when told to', () => {
    expect(actionsOf({ new: web(service, wanted('web.service')), live })).toEqual(['start web.service: new'])
    expect(actionsOf({ new: web(service), start: ['web.service'] })).toEqual(['start web.service: new'])
    expect(actionsOf({ new: web(service, { 'multi-user.target.requires/web.service': '-> x' }), live })).toEqual([
      'start web.service: new',
    ])
  })

  it("starts when systemd knows of an active target that wants it, be it the distribution's", () => {
    const known = aStatus('web.service', { active: 'inactive', load: 'not-found', wantedBy: [unit('timers.target')] })
    expect(actionsOf({ new: web(service), live: [...live, known] })).toEqual(['start web.service: new'])
  })

  it('says why it does not start otherwise', () => {
    const idle = ['skip web.service: new; no active target wants it, and start is not set']
    expect(actionsOf({ new: web(service), live })).toEqual(idle)
    expect(actionsOf({ new: web(service, wanted('web.service')) })).toEqual(idle)
    expect(actionsOf({ new: web(service, wanted('web.service', 'other.service')), live: ['other.service'] })).toEqual(
      idle,
    )
  })

  it.each([
    ['X-OnlyManualStart=1', 'X-OnlyManualStart'],
    ['[Unit]\nRefuseManualStart=1', 'it refuses to be started by hand'],
  ])('with %s is left to people', (key, why) => {
    expect(actionsOf({ new: web(`${service}${key}\n`, wanted('web.service')), live, start: ['web.service'] })).toEqual([
      `skip web.service: new; ${why}`,
    ])
  })

  it('starts although its old definition refused that, if the new one does not', () => {
    const failed = aStatus('web.service', { active: 'failed', refuseManualStart: true })
    expect(actionsOf({ old: web(service), new: web(changed), live: [failed] })).toEqual([
      'start web.service: failed, and ExecStart changed',
    ])
  })

  it('starts together with the new target that wants it', () => {
    const files = {
      'app.target': '[Unit]\n',
      ...web(service, { ...wanted('web.service', 'app.target'), ...wanted('app.target') }),
    }
    expect(actionsOf({ new: files, live })).toEqual(['start app.target: new', 'start web.service: new'])
    expect(
      actionsOf({ new: { 'a.target': '[Unit]\nWants=b.target\n', 'b.target': '[Unit]\nWants=a.target\n' } }),
    ).toEqual([
      'skip a.target: new; no active target wants it, and start is not set',
      'skip b.target: new; no active target wants it, and start is not set',
    ])
  })

  it('is no template, no alias and no slice', () => {
    const files = {
      'w@.service': service,
      'web.service': service,
      'www.service': '-> web.service',
      'x.slice': '[Slice]\n',
    }
    expect(actionsOf({ new: files, start: Object.keys(files) })).toEqual(['start web.service: new'])
  })

  it('may take a name that was an alias until now, and does not touch the unit that had it', () => {
    const www = { 'www.service': service, ...wanted('www.service') }
    const alias = aStatus('www.service', { id: unit('web.service') })
    expect(
      actionsOf({
        old: web(service, { 'www.service': '-> web.service' }),
        new: web(service, www),
        live: [...live, 'web.service', alias],
      }),
    ).toEqual(['start www.service: new'])
    expect(actionsOf({ new: www, live: [...live, alias] })).toEqual(['start www.service: new'])
  })

  it('may be an instance that is newly linked, of a template that was there before', () => {
    const template = { 'w@.service': service, ...wanted('w@a.service') }
    expect(
      actionsOf({ old: template, new: { ...template, ...wanted('w@b.service') }, live: [...live, 'w@a.service'] }),
    ).toEqual(['start w@b.service: new'])
  })

  it('takes over from a unit of the same name that runs', () => {
    const running = aStatus('web.service', { fragmentPath: '/usr/lib/systemd/system/web.service' })
    expect(actionsOf({ new: web(service), live: [running] })).toEqual(['restart web.service: now declared here'])
  })

  it('that failed under its old name is a new unit all the same', () => {
    expect(inStates(['failed'], 'web.service', { new: web(service, wanted('web.service')), live })).toEqual([
      ['start web.service: new'],
    ])
  })
})

describe('timers', () => {
  const backup = '[Service]\nType=oneshot\nExecStart=/a\n'
  const timer = '[Timer]\nOnCalendar=daily\n[Install]\nWantedBy=timers.target\n'
  const files = { 'backup.service': backup, 'backup.timer': timer, ...wanted('backup.timer', 'timers.target') }
  const live = ['timers.target', 'multi-user.target']

  it('start when new; the oneshot that they run does not', () => {
    const all = { ...files, ...wanted('backup.service') }
    expect(actionsOf({ new: all, live, start: ['backup.service'] })).toEqual([
      'start backup.timer: new',
      'skip backup.service: new; backup.timer starts it',
    ])
  })

  it('start without an [Install] section, but not when they were left disabled', () => {
    expect(actionsOf({ new: { 'a.timer': '[Timer]\nOnCalendar=daily\n' }, live })).toEqual(['start a.timer: new'])
    expect(actionsOf({ new: { 'a.timer': timer }, live })).toEqual([
      'skip a.timer: new; no active target wants it, and start is not set',
    ])
  })

  it('are restarted when they change', () => {
    const scene = { old: files, new: { ...files, 'backup.timer': timer.replace('daily', 'weekly') } }
    expect(actionsOf({ ...scene, live: [...live, 'backup.timer'] })).toEqual([
      'restart in place backup.timer: OnCalendar changed',
    ])
  })

  it.each([
    ['their namesake', { 'backup.timer': timer }],
    ['the service that they name', { 'nightly.timer': `${timer}[Timer]\nUnit=backup.service\n` }],
  ])('leave a run of %s to its end', (_, timers) => {
    const scene = {
      old: { 'backup.service': backup, ...timers },
      new: { 'backup.service': backup.replace('/a', '/b'), ...timers },
    }
    expect(actionsOf({ ...scene, live: [aStatus('backup.service', { active: 'activating' })] })).toEqual([
      `skip backup.service: ExecStart changed; the next run by ${Object.keys(timers)[0]} takes it`,
    ])
    expect(actionsOf({ ...scene, live: [aStatus('backup.service', { active: 'failed' })] })).toEqual([
      `skip backup.service: failed, and ExecStart changed; ${Object.keys(timers)[0]} starts it`,
    ])
  })
})
