// A real containerd of the benchmark's own, and its client.
import { startContainerd } from '../../test/volumes/containerd.ts'
import { runUnmeasured } from '../lib/command.ts'
import type { Contender } from '../lib/rounds.ts'
import { findTool } from '../lib/tool.ts'

export interface ContainerdTool {
  readonly socket: string
  command(name: string, ...words: string[]): Contender
  /** No image, lease or content is left in it. */
  forget(): void
  stop(): Promise<void>
}

const namesOf = (list: string) => list.split('\n').filter(name => name !== '')

/** Its data lies below the directory; null where it cannot be. */
export async function containerdBelow(directory: string, namespace = 'bench'): Promise<ContainerdTool | null> {
  const ctr = findTool('ctr').path
  if (ctr === null || findTool('containerd').path === null || process.getuid?.() !== 0) return null
  const containerd = await placed(directory, startContainerd)
  const command = (name: string, ...words: string[]): Contender => ({
    name,
    program: ctr,
    args: ['-a', containerd.address, '-n', namespace, ...words],
  })
  return {
    socket: containerd.address,
    command,
    forget() {
      for (const [kind, ...flags] of [['leases'], ['images', '--sync'], ['content']] as const)
        for (const name of namesOf(runUnmeasured(command('', kind, 'ls', '-q'))))
          runUnmeasured(command('', kind, 'rm', ...flags, name))
    },
    stop: () => containerd.dispose(),
  }
}

/** It takes a temporary directory, and that is where this variable says. */
async function placed<T>(directory: string, start: () => Promise<T>): Promise<T> {
  const before = process.env.TMPDIR
  process.env.TMPDIR = directory
  try {
    return await start()
  } finally {
    if (before === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = before
  }
}
