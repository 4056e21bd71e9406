// One machine for tests: a temporary directory as its root, the simulated service manager, a clock that is stepped. The disk
// can be copied, so that one starting point serves many crashes.
import { cpSync, existsSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fakeDoor } from '../content/door.fake.ts'
import { removeTree } from '../lib/durable.ts'
import { type Files, realFiles } from '../lib/files.ts'
import { silentProgress } from '../lib/progress.ts'
import type { OverlayConfig } from '../resources/overlay-config.ts'
import { type Activation, activate } from './activate.ts'
import type { NodeContext } from './context.ts'
import { destinationOf } from './destination.ts'
import { layoutOf } from './layout.ts'
import type { StateName } from './names.ts'
import { prepare } from './prepare.ts'
import type { ApplyReport } from './report.ts'
import { type MemorySystemd, memorySystemd } from './systemd/memory.fake.ts'

export interface FakeNode {
  readonly context: NodeContext
  readonly systemd: MemorySystemd
  readonly root: string
  /** Done by apply where it has not been done yet, also on the machine that this one was copied from. */
  prepare(config: OverlayConfig): Promise<StateName>
  apply(config: OverlayConfig, options?: Partial<Activation> & { files?: Files }): Promise<ApplyReport>
  /** The same disk, another machine: rebooted, unless its service manager is handed over. */
  copy(): FakeNode
  passTime(ms: number): void
  reboot(): void
  remove(): void
}

/** Syncing has nothing to show in a test that loses no power. */
const unsynced: Files = { ...realFiles, fsync: () => {} }

export function fakeNode(from?: { root: string; prepared: Map<string, StateName> }): FakeNode {
  const root = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'cairn-node-'))
  if (from) cpSync(from.root, root, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true })
  const prepared = new Map(from?.prepared)
  let systemd = memorySystemd(root)
  let nowMs = Date.parse('2026-01-01T00:00:00Z')
  let boots = 1
  let ids = 0
  const clock = {
    now: () => new Date(nowMs),
    monotonicMs: () => nowMs,
    bootId: () => `boot-${boots}`,
    sleep: async (ms: number) => {
      nowMs += ms
      systemd.advance(ms)
    },
  }
  const contextWith = (files: Files): NodeContext => ({
    files,
    layout: layoutOf({ root }),
    systemd,
    content: fakeDoor(),
    clock,
    progress: silentProgress,
    newId: () => `id-${++ids}`,
    self: ['/usr/bin/cairn'],
  })
  return {
    root,
    get context() {
      return contextWith(unsynced)
    },
    get systemd() {
      return systemd
    },
    async prepare(config) {
      const text = JSON.stringify(config)
      const input = { file: 'overlay.json', text }
      const { etcState, release } = await prepare(contextWith(unsynced), input, {
        baseDirectory: root,
        command: 'test',
      })
      release()
      prepared.set(text, etcState)
      return etcState
    },
    async apply(config, { files = unsynced, ...options } = {}) {
      const etcState = prepared.get(JSON.stringify(config)) ?? (await this.prepare(config))
      const context = contextWith(files)
      return activate(context, {
        intent: 'apply',
        destination: () => destinationOf(context, { generation: null, etcState, config }),
        ...options,
      })
    },
    copy: () => fakeNode({ root, prepared }),
    passTime: ms => {
      nowMs += ms
    },
    reboot: () => {
      boots++
      systemd = memorySystemd(root)
    },
    remove: () => removeTree(realFiles, root),
  }
}
