// What a runtime is given by its process, on a real directory: links, mounts and flushes are really made, as the supervisor
// would make them.
import { closeSync, constants, fsyncSync, mkdirSync, mkdtempSync, openSync, rmSync, symlinkSync } from 'node:fs'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { contentLayoutOf } from '../../content/layout.ts'
import type { ManagerContext } from '../../content/process/calls.ts'
import { mountAll, unmountAll } from '../../content/supervisor/volume-calls.ts'
import { realClock } from '../../lib/clock.ts'
import { type Files, realFiles } from '../../lib/files.ts'
import { findProgram, run } from '../../lib/run.ts'

export interface RuntimeContext extends ManagerContext {
  readonly base: string
  readonly logged: string[]
  /** Ends what the runtime has open, and removes everything. */
  dispose(): void
}

export interface FakeOptions {
  readonly files?: Files
  readonly bootId?: string
  readonly connect?: () => Promise<Socket | null>
}

export function runtimeContext({ files = realFiles, bootId, connect }: FakeOptions = {}): RuntimeContext {
  const base = mkdtempSync(join(tmpdir(), 'cairn-container-'))
  const layout = contentLayoutOf({ base, run: join(base, 'run') })
  for (const directory of [layout.volumes, layout.manager, layout.verified]) mkdirSync(directory, { recursive: true })
  const ended = new AbortController()
  const logged: string[] = []
  return {
    base,
    logged,
    layout,
    files,
    peer: null as never,
    clock: bootId === undefined ? realClock : { ...realClock, bootId: () => bootId },
    random: Math.random,
    log: line => logged.push(line),
    signal: ended.signal,
    durability: {
      sync: async (directory, names) => {
        for (const path of [...names.map(name => join(directory, name)), directory]) sync(path)
      },
    },
    calls: {
      mkfs: () => Promise.reject(new Error('a container has no file system to make')),
      mount: (mounts, target) =>
        mountAll(layout.volumes, { mounts: mounts.map(mount => ({ ...mount, options: [...mount.options] })), target }),
      unmount: target => unmountAll(layout.volumes, { target }),
      symlink: async links => {
        for (const { path, text } of links) symlinkSync(text, path)
      },
      syncFileSystem: async path => {
        await must('sync', ['-f', path])
      },
      connectRuntime: connect ?? (async () => null),
    },
    dispose() {
      ended.abort()
      rmSync(base, { recursive: true, force: true })
    },
  }
}

async function must(program: string, args: readonly string[]) {
  const { code, stderr } = await run(findProgram(program) ?? program, args)
  if (code !== 0) throw new Error(`${program} ${args.join(' ')}: ${stderr}`)
}

function sync(path: string) {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  fsyncSync(fd)
  closeSync(fd)
}
