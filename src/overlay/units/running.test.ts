import { describe, expect, it } from 'vitest'
import { actionsOf, aStatus, changed, down, inStates, planOf, service, up, wanted, web } from './units.fake.ts'

describe('a changed service', () => {
  const scene = { old: web(service), new: web(changed) }

  it('that runs is stopped under its old definition and started under the new one', () => {
    for (const actions of inStates(up, 'web.service', scene))
      expect(actions).toEqual(['restart web.service: ExecStart changed'])
  })

  it('that does not run stays as it is', () => {
    expect(inStates(down, 'web.service', scene).flat()).toEqual([])
  })

  it('that failed is started', () => {
    expect(inStates(['failed'], 'web.service', scene)).toEqual([['start web.service: failed, and ExecStart changed']])
  })

  it.each([
    ['X-ReloadIfChanged=true\nExecReload=/r', 'reload web.service: ExecStart changed'],
    ['X-RestartIfChanged=false', 'skip web.service: ExecStart changed; X-RestartIfChanged=false'],
    ['X-SwitchMethod=keep-old', 'skip web.service: ExecStart changed; X-SwitchMethod=keep-old'],
    ['X-OnlyManualStart=true', 'skip web.service: ExecStart changed; X-OnlyManualStart'],
    ['X-StopIfChanged=false', 'restart in place web.service: ExecStart changed'],
    ['X-SwitchMethod=restart', 'restart in place web.service: ExecStart changed'],
    ['[Unit]\nRefuseManualStop=yes', 'skip web.service: ExecStart changed; it refuses to be stopped by hand'],
  ])('with %j follows that', (key, action) => {
    const both = { old: web(`${service}ExecReload=/r\n`), new: web(`${changed}ExecReload=/r\n${key}\n`) }
    for (const actions of inStates(up, 'web.service', both)) expect(actions).toEqual([action])
    expect(inStates(down, 'web.service', both).flat()).toEqual([])
  })

  it('is reloaded when nothing more is needed', () => {
    const triggered = (hash: string) =>
      web(`${service}ExecReload=/r\n[Unit]\nX-Reload-Triggers=caddy/routes:${hash.repeat(16)}\n`)
    const both = { old: triggered('a'), new: triggered('b') }
    for (const actions of inStates(up, 'web.service', both))
      expect(actions).toEqual(['reload web.service: etc/caddy/routes changed'])
    expect(inStates(down, 'web.service', both).flat()).toEqual([])
    expect(inStates(['failed'], 'web.service', both)).toEqual([
      ['start web.service: failed, and etc/caddy/routes changed'],
    ])
  })

  it('is restarted where a reload is asked for that it cannot do', () => {
    const triggered = (hash: string) => web(`${service}[Unit]\nX-Reload-Triggers=a:${hash.repeat(16)}\n`)
    expect(actionsOf({ old: triggered('a'), new: triggered('b'), live: ['web.service'] })).toEqual([
      'restart web.service: etc/a changed',
    ])
  })
})

describe('a unit that is gone', () => {
  it('is stopped when it runs', () => {
    for (const actions of inStates(up, 'web.service', { old: web(service) }))
      expect(actions).toEqual(['stop web.service: no longer declared'])
    expect(inStates([...down, 'failed'], 'web.service', { old: web(service) }).flat()).toEqual([])
  })

  it('stays when its old definition says so, or when systemd would refuse', () => {
    const kept = `${service}X-StopOnRemoval=false\n`
    expect(actionsOf({ old: web(kept), live: ['web.service'] })).toEqual([
      'skip web.service: no longer declared; X-StopOnRemoval=false',
    ])
    expect(actionsOf({ old: web(service), live: [aStatus('web.service', { refuseManualStop: true })] })).toEqual([
      'skip web.service: no longer declared; it refuses to be stopped by hand',
    ])
  })

  it('counts as gone although drop-ins for its type remain', () => {
    const all = { 'service.d/1.conf': '[Service]\nUser=a\n' }
    expect(actionsOf({ old: web(service, all), new: all, live: ['web.service'] })).toEqual([
      'stop web.service: no longer declared',
    ])
  })

  it('counts as gone when its name becomes an alias', () => {
    const scene = {
      old: web(service),
      new: { 'api.service': service, 'web.service': '-> api.service' },
      live: ['web.service'],
    }
    expect(actionsOf({ ...scene, start: ['api.service'] })).toEqual([
      'stop web.service: now an alias of api.service',
      'start api.service: new',
    ])
  })

  it('is left alone when systemd runs another unit of that name', () => {
    const live = [aStatus('web.service', { fragmentPath: '/run/systemd/transient/web.service' })]
    expect(actionsOf({ old: web(service), live })).toEqual([
      'skip web.service: runs from /run/systemd/transient/web.service, which Cairn did not make',
    ])
    const ours = [aStatus('web.service', { fragmentPath: '/etc/systemd/system/web.service' })]
    expect(actionsOf({ old: web(service), live: ours })).toEqual(['stop web.service: no longer declared'])
  })

  it('is left alone when it is a slice, in which others may run', () => {
    expect(actionsOf({ old: { 'app.slice': '[Slice]\n' }, live: ['app.slice'] })).toEqual([
      'skip app.slice: no longer declared; stopping it would stop all that runs in it',
    ])
  })

  it('never takes a mount that the system or the store stands on', () => {
    const mounts = {
      '-.mount': '[Mount]\nWhat=/x\n',
      'cairn.mount': '[Mount]\nWhat=/y\n',
      'srv.mount': '[Mount]\nWhat=/z\n',
    }
    expect(actionsOf({ old: mounts, live: Object.keys(mounts) })).toEqual([
      'stop srv.mount: no longer declared',
      'skip -.mount: no longer declared; the system needs this mount',
      'skip cairn.mount: no longer declared; the system needs this mount',
    ])
  })
})

describe('masks', () => {
  it('stop what runs, also what is not ours', () => {
    const masked = { 'web.service': '-> /dev/null' }
    expect(actionsOf({ old: web(service), new: masked, live: ['web.service'] })).toEqual(['stop web.service: masked'])
    expect(actionsOf({ new: masked, live: ['web.service'] })).toEqual(['stop web.service: masked'])
    expect(actionsOf({ old: masked, new: masked, live: ['web.service'] })).toEqual([])
    expect(actionsOf({ old: masked, live: ['web.service'] })).toEqual([])
  })

  it('that go make a unit new', () => {
    const scene = {
      old: { 'web.service': '-> /dev/null' },
      new: web(service, wanted('web.service')),
      live: ['multi-user.target'],
    }
    expect(actionsOf(scene)).toEqual(['start web.service: new'])
  })
})

describe('other types', () => {
  it.each([
    ['a.path', '[Path]\nPathExists=', 'restart in place a.path: PathExists changed'],
    ['a.automount', '[Automount]\nTimeoutIdleSec=', 'restart in place a.automount: TimeoutIdleSec changed'],
    ['a.swap', '[Swap]\nPriority=', 'restart in place a.swap: Priority changed'],
    ['srv.mount', '[Mount]\nWhat=', 'restart in place srv.mount: What changed'],
    ['srv.mount', '[Mount]\nOptions=', 'reload srv.mount: Options changed'],
    ['-.mount', '[Mount]\nWhat=', 'reload -.mount: What changed; the system needs this mount'],
    ['var.mount', '[Mount]\nType=', 'reload var.mount: Type changed; the system needs this mount'],
    ['cairn.mount', '[Mount]\nWhat=', 'reload cairn.mount: What changed; the system needs this mount'],
    ['a.slice', '[Slice]\nMemoryMax=', 'skip a.slice: MemoryMax changed; daemon-reload is enough'],
  ])('of which %s changes after %j', (name, text, action) => {
    const scene = { old: { [name]: `${text}1\n` }, new: { [name]: `${text}2\n` } }
    for (const actions of inStates(up, name, scene)) expect(actions).toEqual([action])
    expect(inStates(down, name, scene).flat()).toEqual([])
  })

  it('keep a mount that holds the store, wherever that is', () => {
    const scene = {
      old: { 'data.mount': '[Mount]\nWhat=1\n' },
      new: { 'data.mount': '[Mount]\nWhat=2\n' },
      live: ['data.mount'],
    }
    expect(actionsOf({ ...scene, store: '/data/cairn' })[0]).toMatch(/^reload/)
    expect(actionsOf({ ...scene, store: '/database' })[0]).toMatch(/^restart/)
  })
})

describe('targets', () => {
  const target = (more = '') => ({ 'app.target': `[Unit]\n${more}`, 'web.service': service })
  const withWeb = wanted('web.service', 'app.target')

  it('that run bring up what they newly want', () => {
    const start = ['start web.service: app.target wants it now']
    expect(actionsOf({ old: target(), new: { ...target(), ...withWeb }, live: ['app.target'] })).toEqual(start)
    expect(actionsOf({ old: target(), new: target('Wants=web.service\n'), live: ['app.target'] })).toEqual(start)
    expect(actionsOf({ old: target(), new: { ...target(), ...withWeb } })).toEqual([])
    expect(actionsOf({ old: target(), new: target('After=web.service\n'), live: ['app.target'] })).toEqual([])
  })

  it("that run bring up the distribution's units too, where there are such", () => {
    const scene = { old: target(), new: target('Wants=cron.service atd.service\n') }
    const cron = aStatus('cron.service', { active: 'inactive' })
    const atd = aStatus('atd.service', { active: 'inactive', load: 'not-found' })
    expect(actionsOf({ ...scene, live: ['app.target', cron, atd] })).toEqual([
      'start cron.service: app.target wants it now',
    ])
    expect(actionsOf({ ...scene, live: ['app.target', 'cron.service', atd] })).toEqual([])
    const masked = { ...scene.new, 'cron.service': '-> /dev/null' }
    expect(actionsOf({ ...scene, new: masked, live: ['app.target', cron, atd] })).toEqual([])
    const dropped = { ...scene.old, 'cron.service': service }
    expect(actionsOf({ ...scene, old: dropped, live: ['app.target', cron, atd] })).toEqual([])
  })

  it('bring up neither what an operator stopped nor what only people start', () => {
    const both = { ...target(), ...withWeb }
    const manual = { 'manual.service': `${service}X-OnlyManualStart=1\n`, ...wanted('manual.service', 'app.target') }
    const stopped = aStatus('web.service', { active: 'inactive' })
    expect(actionsOf({ old: both, new: { ...both, ...manual }, live: ['app.target', stopped] })).toEqual([
      'skip manual.service: new; X-OnlyManualStart',
    ])
  })

  it('that are not ours bring up nothing that was there before', () => {
    const scene = { old: web(service), new: web(service, wanted('web.service')), live: ['multi-user.target'] }
    expect(actionsOf(scene)).toEqual([])
  })

  it.each(['RefuseManualStart=1', 'X-OnlyManualStart=1'])('with %s are left alone', key => {
    expect(
      actionsOf({ old: target(`${key}\n`), new: { ...target(`${key}\n`), ...withWeb }, live: ['app.target'] }),
    ).toEqual([])
  })

  it('that put the machine to sleep are left alone', () => {
    for (const name of ['suspend', 'hibernate', 'hybrid-sleep'])
      expect(
        actionsOf({
          old: { [`${name}.target`]: '[Unit]\n' },
          new: { [`${name}.target`]: '[Unit]\nWants=a.service\n' },
          live: [`${name}.target`],
        }),
      ).toEqual([])
  })

  it('are stopped before when they ask for it', () => {
    const key = 'X-StopOnReconfiguration=1\n'
    expect(actionsOf({ old: target(key), new: { ...target(key), ...withWeb }, live: ['app.target'] })).toEqual([
      'restart app.target: wants web.service',
    ])
  })

  it('that are gone are stopped', () => {
    expect(actionsOf({ old: target(), new: web(service), live: ['app.target'] })).toEqual([
      'stop app.target: no longer declared',
    ])
  })
})

describe('instances', () => {
  const live = ['w@a.service', aStatus('w@b.service', { active: 'inactive' })]

  it('follow their template', () => {
    expect(actionsOf({ old: { 'w@.service': service }, new: { 'w@.service': changed }, live })).toEqual([
      'restart w@a.service: ExecStart changed',
    ])
    expect(actionsOf({ old: { 'w@.service': service }, live })).toEqual(['stop w@a.service: no longer declared'])
  })

  it('go on while one of their drop-ins is left', () => {
    const dropIn = { 'w@a.service.d/1.conf': '[Service]\nUser=a\n' }
    expect(actionsOf({ old: { 'w@.service': service, ...dropIn }, new: dropIn, live })).toEqual([
      'restart w@a.service: only its drop-ins are declared now',
    ])
  })
})

describe('drop-ins', () => {
  const limits = '[Service]\nLimitNOFILE=1\n'
  const dropIn = { 'ssh.service.d/10-limits.conf': limits }
  const live = [aStatus('ssh.service', { fragmentPath: '/usr/lib/systemd/system/ssh.service' })]

  it("are reasons by themselves, also over the distribution's units", () => {
    expect(actionsOf({ new: dropIn, live })).toEqual(['restart ssh.service: drop-in 10-limits.conf added'])
    expect(actionsOf({ old: dropIn, live })).toEqual(['restart ssh.service: drop-in 10-limits.conf removed'])
    expect(actionsOf({ old: dropIn, new: { 'ssh.service.d/10-limits.conf': limits.replace('1', '2') }, live })).toEqual(
      ['restart ssh.service: LimitNOFILE changed'],
    )
    expect(actionsOf({ old: dropIn, new: { 'ssh.service.d/20-user.conf': '[Service]\nUser=a\n' }, live })).toEqual([
      'restart ssh.service: drop-in 20-user.conf added, drop-in 10-limits.conf removed',
    ])
  })

  it('never start a unit', () => {
    expect(actionsOf({ new: dropIn, start: ['ssh.service'], live: ['multi-user.target'] })).toEqual([])
  })

  it('for a prefix reach the units that run', () => {
    expect(actionsOf({ new: { 'ssh-.service.d/1.conf': limits }, live: ['ssh-a.service', 'sshd.service'] })).toEqual([
      'restart ssh-a.service: drop-in 1.conf added',
    ])
  })

  it('for a type restart our units, and only warn of the others', () => {
    const scene = {
      old: web(service),
      new: web(service, { 'service.d/1.conf': limits }),
      live: ['web.service', 'ssh.service'],
    }
    expect(actionsOf(scene)).toEqual(['restart web.service: drop-in 1.conf added'])
    expect(planOf(scene).warnings).toMatchObject([{ code: 'unit.type-wide', path: 'etc/systemd/system/service.d' }])
    expect(planOf({ ...scene, old: scene.new }).warnings).toEqual([])
  })
})
