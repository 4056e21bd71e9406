// What a machine takes up on this computer: a directory in memory with its disk, cgroups with its processes, and what
// nspawn leaves in /run. Its name carries the process that made it, so that a machine whose maker died is found and
// removed by the next one. Synchronous, because it must also run while the process exits.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isErrno } from '../../src/lib/errors.ts'
import { startTimeOf } from '../../src/lib/process-identity.ts'

export interface Home {
  /** `<name>-<pid of the maker>-<its start time>-<counter>` */
  readonly id: string
  readonly directory: string
  /** The overlay mount: the machine's own disk, seen from here. Its absolute links lead to this computer: do not follow. */
  readonly disk: string
  readonly cgroups: readonly string[]
}

const machines = join(tmpdir(), 'cairn-machines')
const mine = new Set<Home>()
let counter = 0

export function makeHome(name: string, lower: string): Home {
  if (counter === 0) process.once('exit', () => mine.forEach(removeHome))
  mkdirSync(machines, { recursive: true })
  removeStale()
  const home = homeOf(`${name}-${process.pid}-${startTimeOf(process.pid)}-${++counter}`)
  mine.add(home)
  try {
    mountDisk(home, lower)
    for (const group of home.cgroups) mkdirSync(group)
    return home
  } catch (error) {
    removeHome(home)
    throw error
  }
}

/** In memory, because an overlay cannot write to another overlay, which is what / is in many a CI. */
function mountDisk({ directory, disk }: Home, lower: string) {
  mkdirSync(directory)
  program('mount', '-t', 'tmpfs', 'cairn-machine', directory)
  const [upper, work] = [join(directory, 'upper'), join(directory, 'work')]
  for (const each of [upper, work, disk]) mkdirSync(each)
  program('mount', '-t', 'overlay', '-o', `lowerdir=${lower},upperdir=${upper},workdir=${work}`, 'overlay', disk)
}

/** Also what is left of a home that was half made or half removed. */
export function removeHome(home: Home) {
  killAll(home)
  removeNspawnLock(home.disk)
  for (const mount of [home.disk, home.directory]) unmount(mount)
  for (const group of home.cgroups) for (const each of groupsBelow(group).reverse()) removeDirectory(each)
  removeDirectory(join('/run/systemd/nspawn/propagate', home.id))
  removeDirectory(home.directory)
  mine.delete(home)
}

/** A killed nspawn leaves the file by which it locked its tree. */
function removeNspawnLock(disk: string) {
  const stats = statSync(disk, { throwIfNoEntry: false })
  const name = stats && `inode-${stats.dev}:${stats.ino}`
  if (name) rmSync(join('/run/systemd/nspawn/locks', name), { force: true })
}

/** Ends every process of the machine. Returns when they are gone. */
export function killAll(home: Home) {
  const deadline = Date.now() + 30_000
  for (;;) {
    const pids = home.cgroups.flatMap(groupsBelow).flatMap(processesIn)
    if (pids.length === 0) return
    if (Date.now() > deadline) throw new Error(`${home.id}: processes ${pids.join(', ')} do not end`)
    for (const pid of pids) ignoring(['ESRCH'], () => process.kill(pid, 'SIGKILL'))
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10)
  }
}

function removeStale() {
  for (const id of readdirSync(machines)) {
    const [, pid, startTime] = /-(\d+)-(\d+)-\d+$/.exec(id) ?? []
    if (pid && startTimeOf(Number(pid)) !== startTime) removeHome(homeOf(id))
  }
}

function homeOf(id: string): Home {
  const directory = join(machines, id)
  return { id, directory, disk: join(directory, 'disk'), cgroups: hierarchies().map(root => join(root, `cairn-${id}`)) }
}

/** Where systemd keeps its groups: the unified hierarchy, and beside it the one named systemd where v1 is still in use. */
function hierarchies(): string[] {
  return readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .map(line => line.split(' '))
    .filter(
      ([, , type, options]) =>
        type === 'cgroup2' || (type === 'cgroup' && options?.split(',').includes('name=systemd')),
    )
    .map(([, path = '']) => path)
}

/** Outermost first. */
function groupsBelow(group: string): string[] {
  if (!existsSync(group)) return []
  const children = readdirSync(group, { withFileTypes: true }).filter(entry => entry.isDirectory())
  return [group, ...children.flatMap(({ name }) => groupsBelow(join(group, name)))]
}

/** 0 stands for a process of another namespace; to kill 0 is to kill oneself. */
function processesIn(group: string): number[] {
  const text = ignoring(['ENOENT', 'ENODEV'], () => readFileSync(join(group, 'cgroup.procs'), 'utf8')) ?? ''
  return text
    .split('\n')
    .map(Number)
    .filter(pid => pid > 0)
}

/** Two processes may be sweeping the same stale machine: what counts is that it is gone. */
function unmount(path: string) {
  if (!isMounted(path)) return
  try {
    program('umount', path)
  } catch (error) {
    if (isMounted(path)) throw error
  }
}

function isMounted(path: string): boolean {
  return readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .some(line => line.split(' ')[1] === path)
}

const removeDirectory = (path: string) => ignoring(['ENOENT'], () => rmdirSync(path))

function program(name: string, ...args: string[]) {
  execFileSync(name, args, { stdio: ['ignore', 'ignore', 'pipe'] })
}

function ignoring<T>(codes: string[], work: () => T): T | undefined {
  try {
    return work()
  } catch (error) {
    if (isErrno(error, ...codes)) return undefined
    throw error
  }
}
