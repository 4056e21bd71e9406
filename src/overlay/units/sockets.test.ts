import { describe, expect, it } from 'vitest'
import { actionsOf, aStatus, changed, service, unit, wanted, web } from './units.fake.ts'

describe('sockets', () => {
  const socket = '[Socket]\nListenStream=80\n'
  const both = web(service, { 'web.socket': socket })

  it('stay open when nothing of theirs changed but ordering', () => {
    expect(
      actionsOf({
        old: both,
        new: { ...both, 'web.socket': `${socket}[Unit]\nAfter=x.target\n` },
        live: ['web.socket', 'web.service'],
      }),
    ).toEqual(['skip web.socket: After changed; the socket stays open'])
  })

  it('that listen elsewhere open anew, and their service waits for the first connection', () => {
    const scene = { old: both, new: { ...both, 'web.socket': socket.replace('80', '81') } }
    expect(actionsOf({ ...scene, live: ['web.socket', 'web.service'] })).toEqual([
      'stop web.service: web.socket opens anew and starts it on demand',
      'restart web.socket: ListenStream changed',
    ])
    expect(actionsOf({ ...scene, live: ['web.socket'] })).toEqual(['restart web.socket: ListenStream changed'])
    expect(actionsOf({ ...scene, live: ['web.service'] })).toEqual([])
  })

  it('are closed and opened with a changed service, which they start on demand', () => {
    const scene = { old: both, new: { ...both, 'web.service': changed } }
    expect(actionsOf({ ...scene, live: ['web.socket', 'web.service'] })).toEqual([
      'stop web.service: ExecStart changed; web.socket starts it on demand',
      'restart web.socket: web.service changed',
    ])
    expect(actionsOf({ ...scene, live: ['web.service'] })).toEqual(['restart web.service: ExecStart changed'])
    expect(actionsOf({ ...scene, live: ['web.socket'] })).toEqual([])
  })

  it('stay open over a restart in place, or when they are to stay as they are', () => {
    const inPlace = { ...both, 'web.service': `${changed}X-StopIfChanged=false\n` }
    expect(actionsOf({ old: both, new: inPlace, live: ['web.socket', 'web.service'] })).toEqual([
      'restart in place web.service: ExecStart changed',
    ])
    const kept = { 'web.socket': `${socket}[Unit]\nX-RestartIfChanged=false\n` }
    expect(actionsOf({ old: both, new: web(changed, kept), live: ['web.socket', 'web.service'] })).toEqual([
      'stop web.service: ExecStart changed; web.socket starts it on demand',
    ])
  })

  it('do not matter to a service that says so', () => {
    const ordinary = { ...both, 'web.service': `${changed}X-NotSocketActivated=true\n` }
    expect(actionsOf({ old: both, new: ordinary, live: ['web.socket', 'web.service'] })).toEqual([
      'restart web.service: ExecStart changed',
    ])
    expect(
      actionsOf({
        old: ordinary,
        new: { ...ordinary, 'web.socket': socket.replace('80', '81') },
        live: ['web.socket', 'web.service'],
      }),
    ).toEqual(['restart web.service: web.socket opens anew', 'restart web.socket: ListenStream changed'])
  })

  it('do not open anew under a service that has to stay', () => {
    const files = { ...both, 'web.service': `${service}X-RestartIfChanged=false\n` }
    expect(
      actionsOf({
        old: files,
        new: { ...files, 'web.socket': socket.replace('80', '81') },
        live: ['web.socket', 'web.service'],
      }),
    ).toEqual(['skip web.socket: ListenStream changed; web.service keeps running on it (X-RestartIfChanged=false)'])
  })

  it('that are gone are stopped; their service goes on by itself', () => {
    expect(actionsOf({ old: both, new: web(service), live: ['web.socket', 'web.service'] })).toEqual([
      'stop web.socket: no longer declared',
    ])
    expect(actionsOf({ old: both, new: web(changed), live: ['web.socket', 'web.service'] })).toEqual([
      'stop web.socket: no longer declared',
      'restart web.service: ExecStart changed',
    ])
  })

  it('that are new take over a service that runs', () => {
    const files = { ...both, ...wanted('web.socket', 'sockets.target') }
    const live = ['sockets.target', 'web.service']
    expect(actionsOf({ old: web(service), new: files, live })).toEqual([
      'stop web.service: web.socket opens anew and starts it on demand',
      'start web.socket: new',
    ])
    expect(actionsOf({ old: web(service), new: { ...files, 'web.service': changed }, live })).toEqual([
      'stop web.service: ExecStart changed; web.socket starts it on demand',
      'start web.socket: new',
    ])
    expect(actionsOf({ new: files, live: ['sockets.target'] })).toEqual([
      'start web.socket: new',
      'skip web.service: new; web.socket starts it on demand',
    ])
  })

  it.each([
    ['Sockets= of the service', { 'a.socket': socket }, `${changed}Sockets=a.socket\n`],
    ['Service= of the socket', { 'a.socket': `${socket}Service=web.service\n` }, changed],
  ])('are found by %s', (_, sockets, text) => {
    expect(
      actionsOf({ old: web(service, sockets), new: web(text, sockets), live: ['a.socket', 'web.service'] }),
    ).toContain('restart a.socket: web.service changed')
  })

  it("are found by what systemd knows, if they are the distribution's", () => {
    const live = ['dbus.socket', aStatus('web.service', { triggeredBy: [unit('dbus.socket')] })]
    expect(actionsOf({ old: web(service), new: web(changed), live })).toContain(
      'restart dbus.socket: web.service changed',
    )
  })

  it('with Accept=yes stay open, and the instances for their connections are only stopped', () => {
    const accepting = { 'ssh.socket': '[Socket]\nListenStream=22\nAccept=yes\n' }
    const scene = { old: { 'ssh@.service': service, ...accepting }, new: { 'ssh@.service': changed, ...accepting } }
    const live = ['ssh.socket', 'ssh@1.service', aStatus('ssh@2.service', { active: 'failed' })]
    const actions = ['stop ssh@1.service: ExecStart changed; the next connection gets a new one']
    expect(actionsOf({ ...scene, live })).toEqual(actions)
    expect(actionsOf({ old: { 'ssh@.service': service }, new: { 'ssh@.service': changed }, live })).toEqual(actions)
  })

  it('with Accept=yes that listen elsewhere leave their connections alone', () => {
    const accepting = (port: number) => ({
      'ssh@.service': service,
      'ssh.socket': `[Socket]\nListenStream=${port}\nAccept=yes\n`,
    })
    expect(
      actionsOf({ old: accepting(22), new: accepting(23), live: ['ssh.socket', 'ssh@1.service', 'ssh.service'] }),
    ).toEqual(['restart ssh.socket: ListenStream changed'])
  })
})
