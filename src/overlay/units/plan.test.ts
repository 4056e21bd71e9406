import { describe, expect, it } from 'vitest'
import { unitsOfInterest } from './plan.ts'
import {
  actionsOf,
  aTree,
  changed,
  down,
  inStates,
  planOf,
  type Scene,
  service,
  unit,
  up,
  wanted,
  web,
} from './units.fake.ts'

describe('planUnits', () => {
  it('does nothing between empty trees, and nothing about files that are no units', () => {
    expect(actionsOf({})).toEqual([])
    expect(
      actionsOf({ old: { README: 'a' }, new: { README: 'b', 'web.service~': 'c' }, live: ['web.service'] }),
    ).toEqual([])
  })

  it('does nothing about a unit that is the same or means the same', () => {
    for (const text of [service, `# comment\n${service}[Install]\nWantedBy=x.target\n[Unit]\nDescription=new\n`])
      expect(inStates([...up, ...down, 'failed'], 'web.service', { old: web(service), new: web(text) }).flat()).toEqual(
        [],
      )
  })

  it('names what changed in one line, however much it was', () => {
    const keys = (value: number, count: number) =>
      `[Service]\n${['A', 'B', 'C', 'D', 'E', 'F']
        .slice(0, count)
        .map(key => `${key}=${value}\n`)
        .join('')}`
    const reason = (count: number) =>
      actionsOf({ old: web(keys(1, count)), new: web(keys(2, count)), live: ['web.service'] })[0]
    expect([1, 2, 4, 6].map(reason)).toEqual([
      'restart web.service: A changed',
      'restart web.service: A and B changed',
      'restart web.service: A, B, C and D changed',
      'restart web.service: A, B, C and 3 more changed',
    ])
  })

  it('sorts its lists by name', () => {
    const files = (text: string) => Object.fromEntries(['c', 'a', 'b'].map(name => [`${name}.service`, text]))
    const names = planOf({ old: files(service), new: files(changed), live: ['b.service', 'c.service', 'a.service'] })
      .units.restart
    expect(names.map(({ name }) => name)).toEqual(['a.service', 'b.service', 'c.service'])
  })

  it('warns of network units that it would stop', () => {
    const network = `[Unit]\nBefore=network.target\n${service}`
    const codes = (scene: Scene) => planOf(scene).warnings.map(({ code }) => code)
    expect(codes({ new: { 'net.service': network } })).toEqual(['unit.network-stop'])
    expect(codes({ new: { 'systemd-networkd.service': service } })).toEqual(['unit.network-stop'])
    expect(codes({ new: { 'net.service': `${network}X-StopIfChanged=false\n` } })).toEqual([])
    expect(codes({ old: { 'net.service': network }, new: { 'net.service': network } })).toEqual([])
  })
})

describe('unitsOfInterest', () => {
  it('is empty for equal trees', () => {
    const tree = aTree({ ...web(service), 'a.service': '-> web.service' })
    expect(unitsOfInterest({ old: tree, new: new Map(tree) }, [unit('web.service')])).toEqual([])
  })

  it('has both trees, active instances, who wants them, and sockets with their services', () => {
    const old = aTree({ 'old.service': service, 'w@.service': service })
    const files = {
      'a.socket': '[Socket]\nService=b.service\n',
      'c.service': `${service}Sockets=d.socket\n`,
      ...wanted('c.service'),
    }
    const active = ['w@x.service', 'ssh.service', 'other@y.service'].map(unit)
    expect(unitsOfInterest({ old, new: aTree(files) }, active)).toEqual([
      'a.socket',
      'b.service',
      'c.service',
      'd.socket',
      'multi-user.target',
      'old.service',
      'old.socket',
      'w.socket',
      'w@x.service',
      'w@x.socket',
    ])
  })
})
