import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { faultyFiles } from '../lib/files.fake.ts'
import { realFiles } from '../lib/files.ts'
import type { OverlayConfig } from '../resources/overlay-config.ts'
import { currentNumber, generationNumbers } from './generations.ts'
import { confirmWithin } from './hold.ts'
import { type FakeNode, fakeNode } from './node.fake.ts'
import { recover } from './recover.ts'
import { readStatus } from './status.ts'

interface Wish {
  readonly text?: string
  readonly command?: string
  readonly units?: readonly string[]
}

/** A file that `web` reloads on, and one unit per name. */
function aConfig({ text = 'one', command = 'serve', units = ['web'] }: Wish = {}): OverlayConfig {
  const unit = {
    version: '1',
    templateInline: `[Service]\nExecStart=/bin/${command} /etc/web/conf\nExecReload=/bin/true\n[Install]\nWantedBy=multi-user.target\n`,
  }
  return {
    version: 'v1',
    packageByNames: {
      conf: {
        version: '1',
        source: { type: 'inline', content: text, path: 'conf' },
        etcFiles: [
          { source: 'conf', target: 'web/conf' },
          { source: 'conf', target: 'web/secret', mode: '0600' },
        ],
      },
    },
    systemdUnitsByName: Object.fromEntries(units.map(name => [name, unit])),
  }
}

describe('activate', () => {
  let node: FakeNode
  beforeEach(() => {
    node = fakeNode()
  })
  afterEach(() => node.remove())

  const etc = (path: string) => readFileSync(join(node.root, 'etc', path), 'utf8')
  const journals = () => readdirSync(node.context.layout.journal)
  const commandOf = (unit: string) => node.systemd.running(unit)?.commands.join(' ')
  const current = () => currentNumber(node.context.files, node.context.layout)

  it('goes through stop, switch, daemon-reload, reload, restart, start in this order', async () => {
    await node.apply(aConfig({ units: ['gone', 'web'] }))
    node.systemd.calls.length = 0
    await node.apply(aConfig({ text: 'two', units: ['new', 'web'] }))
    const verbs = node.systemd.calls.map(call => call.split(' ')[0])
    expect(verbs.filter((verb, index) => verb !== verbs[index - 1])).toEqual([
      'stop',
      'reset-failed',
      'daemon-reload',
      'reload',
      'start',
    ])
    expect(etc('web/conf')).toBe('two')
  })

  it('says what it did, and takes no second generation for the same config', async () => {
    expect(await node.apply(aConfig())).toMatchObject({
      outcome: 'applied',
      generation: 1,
      changed: true,
      units: { start: [{ name: 'web.service', reason: 'new' }] },
    })
    expect(await node.apply(aConfig())).toMatchObject({ outcome: 'nothing to do', generation: 1, changed: false })
  })

  it('writes nothing when there is nothing to do', async () => {
    await node.apply(aConfig())
    const files = faultyFiles(realFiles)
    await node.apply(aConfig(), { files })
    expect(files.log).toEqual([])
  })

  it('makes a generation for a config that differs only in what no file shows', async () => {
    await node.apply(aConfig())
    expect(await node.apply({ ...aConfig(), version: 'v2' })).toMatchObject({
      outcome: 'applied',
      generation: 2,
      etc: { changed: 0 },
    })
  })

  it('makes a generation when the same config gives other content', async () => {
    const source = join(node.root, 'greeting')
    const config: OverlayConfig = {
      version: 'v1',
      packageByNames: {
        greeting: {
          version: '1',
          source: { type: 'file', uri: source, path: 'greeting' },
          etcFiles: [{ source: 'greeting', target: 'greeting' }],
        },
      },
    }
    for (const [text, generation] of [
      ['one', 1],
      ['two', 2],
    ] as const) {
      writeFileSync(source, text)
      await node.prepare(config)
      expect(await node.apply(config)).toMatchObject({ outcome: 'applied', generation })
      expect(etc('greeting')).toBe(text)
    }
    expect(generationNumbers(node.context.files, node.context.layout)).toEqual([1, 2])
  })

  it('repairs a missing link of its own in the same generation', async () => {
    await node.apply(aConfig())
    realFiles.unlink(join(node.root, 'etc/web/conf'))
    expect(await node.apply(aConfig())).toMatchObject({ outcome: 'applied', generation: 1 })
    expect(etc('web/conf')).toBe('one')
    expect(generationNumbers(node.context.files, node.context.layout)).toEqual([1])
  })

  it('refuses an edited copy, names it, and changes nothing', async () => {
    await node.apply(aConfig())
    writeFileSync(join(node.root, 'etc/web/secret'), 'mine')
    await expect(node.apply(aConfig({ text: 'two' }))).rejects.toMatchObject({ code: 'etc.conflict' })
    expect(etc('web/secret')).toBe('mine')
    expect(etc('web/conf')).toBe('one')
    expect(journals()).toEqual([])
    await node.apply(aConfig({ text: 'two' }), { overwriteDrift: ['web/secret'] })
    expect(etc('web/secret')).toBe('two')
  })

  it('says where in the config everything in the way was declared, units too', async () => {
    for (const target of ['web/conf', 'systemd/system/web.service']) {
      mkdirSync(join(node.root, 'etc', target, '..'), { recursive: true })
      writeFileSync(join(node.root, 'etc', target), 'mine')
    }
    await expect(node.apply(aConfig())).rejects.toMatchObject({
      problems: [{ path: 'systemdUnitsByName.web' }, { path: 'packageByNames.conf.etcFiles[0]' }],
    })
  })

  it('goes back when a unit fails: files, units and current', async () => {
    await node.apply(aConfig({ units: ['gone', 'web'] }))
    const report = await node.apply(aConfig({ text: 'two', command: 'false', units: ['new', 'web'] }))
    expect(report).toMatchObject({ outcome: 'rolled back', generation: 1, changed: false })
    expect(report.failed.map(({ name }) => name)).toEqual(expect.arrayContaining(['new.service', 'web.service']))
    expect(etc('web/conf')).toBe('one')
    expect(etc('web/secret')).toBe('one')
    expect(commandOf('web.service')).toContain('serve')
    expect(commandOf('gone.service')).toContain('serve')
    expect(node.systemd.running('new.service')).toBeNull()
    expect(current()).toBe(1)
    expect(journals()).toEqual([])
  })

  it('takes a failed first apply away altogether', async () => {
    const report = await node.apply(aConfig({ command: 'false' }))
    expect(report).toMatchObject({ outcome: 'rolled back', generation: null })
    expect(readdirSync(join(node.root, 'etc'))).toEqual([])
    expect(current()).toBeNull()
  })

  it('acts on a unit again after a failed apply was taken back', async () => {
    await node.apply(aConfig())
    await node.apply(aConfig({ command: 'false' }))
    expect(await node.apply(aConfig({ command: 'other' }))).toMatchObject({ outcome: 'applied', generation: 3 })
    expect(commandOf('web.service')).toContain('other')
  })

  it('keeps a failed generation when told so, and starts the unit once it is mended', async () => {
    await node.apply(aConfig())
    expect(await node.apply(aConfig({ command: 'false' }), { keepFailed: true })).toMatchObject({
      outcome: 'applied, unhealthy',
      generation: 2,
    })
    await node.apply(aConfig({ command: 'other' }))
    expect(commandOf('web.service')).toContain('other')
  })

  it('goes back when a check does not hold in its time', async () => {
    await node.apply(aConfig())
    const unhealthy = {
      ...aConfig({ text: 'two' }),
      checks: [{ name: 'ready', unit: 'nothing.service', within: '1s' }],
    }
    expect(await node.apply(unhealthy)).toMatchObject({ outcome: 'rolled back', failed: [{ name: 'ready' }] })
    expect(etc('web/conf')).toBe('one')
  })

  describe('with a window to confirm', () => {
    const risky = (text: string) =>
      node.apply(aConfig({ text }), { hold: () => confirmWithin(node.context.clock, 60_000) })

    it('stays while the window is open, and goes back at the next start after it', async () => {
      await node.apply(aConfig())
      expect(await risky('two')).toMatchObject({ outcome: 'applied', confirm: { id: expect.any(String) } })
      expect((await recover(node.context)).held).not.toBeNull()
      expect(etc('web/conf')).toBe('two')
      node.passTime(61_000)
      await recover(node.context)
      expect(etc('web/conf')).toBe('one')
      expect(current()).toBe(1)
    })

    it('goes back at boot, however much of the window was left', async () => {
      await node.apply(aConfig())
      await risky('two')
      node.reboot()
      expect((await recover(node.context)).notes).toEqual([expect.stringContaining('not confirmed')])
      expect(etc('web/conf')).toBe('one')
    })

    it('leads back to the last confirmed generation, also after a second apply', async () => {
      await node.apply(aConfig())
      await risky('two')
      await risky('three')
      node.passTime(61_000)
      await recover(node.context)
      expect(etc('web/conf')).toBe('one')
      expect(journals()).toEqual([])
    })

    it('is neither confirmed nor ended by the same config again', async () => {
      await node.apply(aConfig())
      await risky('two')
      expect(await node.apply(aConfig({ text: 'two' }))).toMatchObject({ outcome: 'nothing to do' })
      node.reboot()
      await recover(node.context)
      expect(etc('web/conf')).toBe('one')
    })

    it('a test that is applied for good stays', async () => {
      await node.apply(aConfig())
      const { clock } = node.context
      await node.apply(aConfig({ text: 'two' }), { hold: () => ({ kind: 'test', bootId: clock.bootId() }) })
      await node.apply(aConfig({ text: 'two' }))
      node.reboot()
      await recover(node.context)
      expect(etc('web/conf')).toBe('two')
      expect(current()).toBe(2)
    })

    it('takes the first apply away when nothing was there before', async () => {
      await risky('two')
      node.reboot()
      await recover(node.context)
      expect(readdirSync(join(node.root, 'etc'))).toEqual([])
    })

    it('a test holds until the next boot and leaves current alone', async () => {
      await node.apply(aConfig())
      const { clock } = node.context
      await node.apply(aConfig({ text: 'two' }), { hold: () => ({ kind: 'test', bootId: clock.bootId() }) })
      expect(etc('web/conf')).toBe('two')
      expect(current()).toBe(1)
      node.reboot()
      await recover(node.context)
      expect(etc('web/conf')).toBe('one')
    })
  })

  it('takes the next free number when the counter is damaged', async () => {
    await node.apply(aConfig())
    writeFileSync(join(node.context.layout.generations, 'counter'), 'torn')
    expect(await node.apply(aConfig({ text: 'two' }))).toMatchObject({ generation: 2 })
  })

  it('puts /etc back to the current generation when a journal cannot be read', async () => {
    await node.apply(aConfig())
    const { files, layout } = node.context
    const crashing = faultyFiles(files, { crashAt: justAfterFlip(await callsOfApply(node)) })
    await node.apply(aConfig({ text: 'two' }), { files: crashing }).catch(() => {})
    for (const name of journals()) writeFileSync(join(layout.journal, name), '{ torn')
    // A question in between says so, and takes nothing away from the recovery.
    expect(await readStatus(node.context, { scan: false })).toMatchObject({
      openJournal: expect.stringContaining('not readable'),
    })
    const { notes, whole } = await recover(node.context)
    expect(whole).toBe(true)
    expect(notes.join(' ')).toContain('put aside')
    expect(etc('web/conf')).toBe('one')
    expect(etc('web/secret')).toBe('one')
  })
})

/** The calls of an apply of 'two' on a copy of the machine. */
async function callsOfApply(node: FakeNode): Promise<readonly string[]> {
  const copy = node.copy()
  const files = faultyFiles(copy.context.files)
  await copy.apply(aConfig({ text: 'two' }), { files })
  copy.remove()
  return files.log
}

const justAfterFlip = (log: readonly string[]) => log.findIndex(call => /^rename .*etc\/static$/.test(call)) + 2
