// An apply that fails or dies at each call that changes the disk. Whatever the call: the next start finds the old generation
// or the new one, whole, and applying again gives the new one.
import { readdirSync, readlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { litterPrefix, makeDirectories } from '../lib/durable.ts'
import { type FaultPlan, faultyFiles } from '../lib/files.fake.ts'
import { realFiles } from '../lib/files.ts'
import type { OverlayConfig } from '../resources/overlay-config.ts'
import { snapshotEtc } from './etc/etc.fake.ts'
import { type FakeNode, fakeNode } from './node.fake.ts'
import { recover } from './recover.ts'

/** Everything that a switch can do: links and copies that stay, come, go; a taken-over file; an alias; units of each fate. */
function configOf(side: 'old' | 'new'): OverlayConfig {
  const unit = (command: string, install = 'WantedBy=multi-user.target') => ({
    version: '1',
    templateInline: `[Service]\nExecStart=/bin/${command}\n[Install]\n${install}\n`,
  })
  return {
    version: side,
    packageByNames: {
      files: {
        version: '1',
        source: { type: 'inline', content: side, path: 'file' },
        etcFiles: [
          { source: 'file', target: 'kept/link' },
          { source: 'file', target: 'kept/copy', mode: '0600' },
          { source: 'file', target: `only-${side}/link` },
          { source: 'file', target: `only-${side}/copy`, mode: '0640' },
          { source: 'file', target: `admin-${side}.conf`, replaceExisting: true },
        ],
      },
    },
    systemdUnitsByName: {
      changed: unit(side, `WantedBy=multi-user.target\nAlias=${side}-alias.service`),
      steady: unit('steady'),
      [`only-${side}`]: unit(side),
    },
  }
}

interface Seen {
  readonly etc: readonly string[]
  readonly static: string
  readonly current: string
  readonly journal: readonly string[]
  readonly litter: readonly string[]
  readonly units: Record<string, string | undefined>
}

function look({ root, context, systemd }: FakeNode): Seen {
  const { layout } = context
  const everything = readdirSync(root, { recursive: true }) as string[]
  const command = (unit: string) => systemd.running(`${unit}.service`)?.commands.join(' ')
  return {
    etc: snapshotEtc(layout, { timesOf: () => false }),
    static: readlinkSync(layout.static),
    current: readlinkSync(layout.current),
    journal: readdirSync(layout.journal),
    litter: everything.filter(path => path.includes(litterPrefix)),
    units: Object.fromEntries(['changed', 'steady', 'only-old', 'only-new'].map(unit => [unit, command(unit)])),
  }
}

/** CI stops at each call; a run by hand at every fourth, each time beginning elsewhere. */
const stride = process.env.CAIRN_REQUIRE === 'all' ? 1 : 4
const firstCall = 1 + Math.floor(Math.random() * stride)

describe('an apply that is interrupted', { timeout: 240_000 }, () => {
  let start: FakeNode
  let calls: readonly string[]
  const seen = {} as Record<'old' | 'new', Seen>

  beforeAll(async () => {
    start = fakeNode()
    makeDirectories(realFiles, join(start.root, 'etc'))
    for (const side of ['old', 'new']) writeFileSync(join(start.root, `etc/admin-${side}.conf`), 'by hand')
    await start.apply(configOf('old'))
    await start.prepare(configOf('new'))
    seen.old = look(start)

    const done = start.copy()
    const counting = faultyFiles(done.context.files)
    await done.apply(configOf('new'), { files: counting })
    calls = counting.log
    seen.new = look(done)
    done.remove()
  })
  afterAll(() => start.remove())

  const isNew = (found: Seen) => found.current === seen.new.current

  async function interrupted(plan: FaultPlan, check: (node: FakeNode) => Promise<void>) {
    const node = start.copy()
    try {
      await node.apply(configOf('new'), { files: faultyFiles(node.context.files, plan) }).catch(() => null)
      await check(node)
      await node.apply(configOf('new'))
      expect({ ...look(node), current: '' }).toEqual({ ...seen.new, current: '' })
    } finally {
      node.remove()
    }
  }

  it('is whole after a crash at every call, and after the reboot that may follow', async () => {
    const ends = { old: 0, new: 0 }
    for (let crashAt = firstCall; crashAt <= calls.length; crashAt += stride)
      await interrupted({ crashAt }, async node => {
        if (Math.floor(crashAt / stride) % 2 === 0) node.reboot()
        const { whole } = await recover(node.context)
        const found = look(node)
        const at = `call ${crashAt}: ${calls[crashAt - 1]}`
        expect(whole, at).toBe(true)
        expect(found, at).toEqual(isNew(found) ? seen.new : seen.old)
        ends[isNew(found) ? 'new' : 'old']++
      })
    expect(ends.old).toBeGreaterThan(5)
    expect(ends.new).toBeGreaterThan(5)
  })

  it('is whole after a failing call, whichever it is, without anybody recovering', async () => {
    const codes = ['ENOSPC', 'EIO', 'EROFS'] as const
    for (let failAt = firstCall; failAt <= calls.length; failAt += stride)
      await interrupted({ failAt, code: codes[failAt % codes.length]! }, async node => {
        // A journal that could not be removed is complete, and goes with the next start.
        const found = { ...look(node), journal: [] }
        expect(found, `call ${failAt}: ${calls[failAt - 1]}`).toEqual(isNew(found) ? seen.new : seen.old)
      })
  })
})
