// What the manager asks for in volumes/ that needs a program, root, or a right that Node does not give it.
import { constants } from 'node:fs'
import { readFile, readlink, symlink } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { CairnError, isErrno } from '../../lib/errors.ts'
import type { ProblemCode } from '../../lib/problem.ts'
import { redact } from '../../lib/redact.ts'
import { findProgram, type RunOptions, run } from '../../lib/run.ts'
import { syncFileSystem } from '../../lib/sync-file-system.ts'
import type { CallArgs } from '../process/supervisor-calls.ts'
import { directoryFlags, openBelow, placeFor, placeIn } from './open-below.ts'
import { planMount } from './plan-mount.ts'

const makers = {
  ext4: { program: 'mkfs.ext4', flags: ['-q', '-F'] },
  xfs: { program: 'mkfs.xfs', flags: ['-q', '-f'] },
  vfat: { program: 'mkfs.vfat', flags: [] },
} as const

export async function makeFileSystem(volumes: string, { path, type }: CallArgs<'mkfs'>): Promise<void> {
  const { program, flags } = makers[type]
  const handle = await openBelow([volumes], path, constants.O_RDWR)
  try {
    if (!(await handle.stat()).isFile()) throw new CairnError('call.refused', `${path} is no regular file`)
    await mustRun(program, [...flags, placeFor(handle)], 'mkfs.failed')
  } finally {
    await handle.close()
  }
}

export async function mountAll(volumes: string, { mounts, target }: CallArgs<'mount'>): Promise<void> {
  const plans = mounts.map(planMount)
  if (process.getuid?.() !== 0) throw new CairnError('mount.denied', 'only root can mount')
  for (const { args, directory } of plans) {
    // Opened again for each: a second mount goes on top of the first.
    const handle = await openBelow([volumes], target, directoryFlags)
    try {
      // As one text: the way that newer versions prefer takes no option of more than 255 bytes.
      const options = { env: { LIBMOUNT_FORCE_MOUNT2: 'always' }, ...(directory !== null && { cwd: directory }) }
      await mustRun('mount', [...args, placeFor(handle)], 'mount.failed', options)
    } finally {
      await handle.close()
    }
  }
}

export async function unmountAll(volumes: string, { target }: CallArgs<'unmount'>): Promise<void> {
  const path = await realPath(volumes, target)
  if (path === null) return
  const lines = (await readFile('/proc/self/mountinfo', 'utf8')).split('\n')
  const stacked = lines.filter(line => unescaped(line.split(' ')[4] ?? '') === path)
  for (const _ of stacked) await mustRun('umount', ['--no-mtab', '--no-canonicalize', path], 'mount.failed')
}

export async function makeLinks(volumes: string, { links }: CallArgs<'symlink'>): Promise<void> {
  for (const [directory, inThere] of Map.groupBy(links, ({ path }) => dirname(path))) {
    const parent = await openBelow([volumes], directory, directoryFlags)
    try {
      for (const { path, text } of inThere) await symlink(text, placeIn(parent, basename(path)))
    } finally {
      await parent.close()
    }
  }
}

export async function flushFileSystem(own: readonly string[], { path }: CallArgs<'syncFileSystem'>): Promise<void> {
  const handle = await openBelow(own, path, constants.O_RDONLY)
  try {
    if (!(await syncFileSystem(placeFor(handle))))
      throw new CairnError('sync.failed', `the file system of ${path} cannot be flushed`)
  } finally {
    await handle.close()
  }
}

/** As the kernel tells it of mounts. Null when nothing is there. */
async function realPath(volumes: string, path: string): Promise<string | null> {
  try {
    const handle = await openBelow([volumes], path, directoryFlags)
    try {
      return await readlink(placeFor(handle))
    } finally {
      await handle.close()
    }
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return null
    throw error
  }
}

const unescaped = (path: string) =>
  path.replace(/\\([0-7]{3})/g, (_, octal) => String.fromCharCode(Number.parseInt(octal, 8)))

async function mustRun(name: string, args: readonly string[], code: ProblemCode, options: RunOptions = {}) {
  const program = findProgram(name)
  if (!program) throw new CairnError('program.missing', `${name} is not installed`)
  const { code: exit, stderr } = await run(program, args, options)
  if (exit !== 0) throw new CairnError(code, `${name} failed: ${redact(stderr).trim().slice(0, 1000)}`)
}
