// The demo's screen as a whole; the golden files are what a person sees.
import { describe, expect, it } from 'vitest'
import { aStyle } from '../../lib/style.fake.ts'
import type { Screen } from '../../lib/terminal.ts'
import type { DemoMachine } from './homelab.ts'
import { liveLines } from './live.ts'
import type { ActivatedView } from './machine.ts'
import { reportToJson } from './report.ts'
import { endLines, headLines, type MachineView, machineLines, tryLines } from './screen.ts'

const style = aStyle({ width: 140 })
const directory = `${process.cwd()}/.cairn/demo`

const aMachine = (name: string, port: number): DemoMachine => ({
  name,
  file: `examples/homelab/overlays/${name}.json`,
  text: '',
  config: {
    version: '1',
    systemdUnitsByName: { web: { version: '1', templateInline: '' } },
    checks: [{ name: 'web', http: `http://127.0.0.1:${port}/health` }],
  },
  urls: [new URL(`http://127.0.0.1:${port}/health`)],
})
const machines = [aMachine('atlas', 18081), aMachine('cleo', 18083)]

const aView = (name: string, differs: Partial<MachineView> = {}): MachineView => ({
  name,
  url: 'http://127.0.0.1:18081',
  step: 'waiting',
  ...differs,
})
const prepared = { packages: 8, bytes: 4120 }
const healthy: ActivatedView = {
  outcome: 'applied',
  generation: 1,
  healthy: true,
  failed: [],
  seconds: 1.5,
  units: [
    { name: 'web.service', active: 'active', sub: 'running' },
    { name: 'hello.service', active: 'active', sub: 'exited' },
    { name: 'old.service', active: 'inactive', sub: 'dead' },
  ],
}
const failed: ActivatedView = {
  ...healthy,
  outcome: 'rolled back',
  generation: null,
  healthy: false,
  units: [],
  failed: [
    {
      name: 'web.service',
      reason: 'exits with status 1 and is restarted over and over',
      log: ['cannot bind 18083: address in use'],
    },
  ],
}
const up = [
  aView('atlas', { step: 'done', prepared, activated: healthy }),
  aView('cleo', { step: 'done', prepared, activated: healthy }),
]
const oneFailed = [up[0]!, aView('cleo', { step: 'done', prepared, activated: failed })]

describe('the screen of the demo', () => {
  it('ends with what to try', async () => {
    const lines = [
      ...headLines(machines, directory, style),
      ...machineLines(up, style),
      '',
      ...endLines(up, 4.56, style),
      '',
      ...tryLines(machines[0]!, { cairn: 'bin/cairn', directory }, style),
    ]
    await expect(lines.join('\n')).toMatchFileSnapshot('golden/healthy.txt')
  })

  it('shows how far each machine is', async () => {
    const views = [
      aView('atlas', { step: 'switching', prepared }),
      aView('borea', { step: 'preparing' }),
      aView('cleo'),
    ]
    await expect(machineLines(views, style).join('\n')).toMatchFileSnapshot('golden/on-the-way.txt')
  })

  it('says what failed and what the unit said last', async () => {
    const lines = [...machineLines(oneFailed, style), '', ...endLines(oneFailed, 4.56, style)]
    await expect(lines.join('\n')).toMatchFileSnapshot('golden/not-healthy.txt')
  })

  it('has the same for programs', () => {
    const report = reportToJson(oneFailed, { directory: '/d', seconds: 4.56 })
    expect(report).toMatchObject({
      healthy: false,
      machines: [
        { name: 'atlas', root: '/d/atlas', packages: 8, generation: 1, healthy: true },
        { name: 'cleo', outcome: 'rolled back', healthy: false, failed: [{ name: 'web.service' }] },
      ],
    })
  })
})

describe('live lines', () => {
  const aScreen = (live: boolean, width = 80) => {
    const written: string[] = []
    const screen: Screen = { live, colour: false, width: () => width, write: text => void written.push(text) }
    return { screen, written }
  }

  it('are drawn again in their place on a terminal', () => {
    const { screen, written } = aScreen(true)
    const lines = liveLines(screen)
    lines.show(['a 1', 'b 1'])
    lines.show(['a 2', 'b 1'])
    lines.end(['a 3', 'b 3', ''])
    expect(written).toEqual(['a 1\nb 1\n', '\x1b[2A\r\x1b[Ja 2\nb 1\n', '\x1b[2A\r\x1b[Ja 3\nb 3\n\n'])
  })

  it('are cut where they would wrap, except when they stay; colour takes no room', () => {
    const { screen, written } = aScreen(true, 6)
    const lines = liveLines(screen)
    lines.show(['\x1b[1mshort\x1b[22m', '\x1b[1ma longer\x1b[22m line'])
    lines.end(['a longer line'])
    expect(written).toEqual(['\x1b[1mshort\x1b[22m\na lon\n', '\x1b[2A\r\x1b[Ja longer line\n'])
  })

  it('are written once where nobody watches', () => {
    const { screen, written } = aScreen(false)
    const lines = liveLines(screen)
    lines.show(['a 1'])
    lines.end(['a 2'])
    expect(written).toEqual(['a 2\n'])
  })
})
