// A file: URL, where an administrator allows one directory for them. What was opened is judged, not what was named, so
// that nothing can be exchanged in between.
import * as fs from 'node:fs'
import { fileURLToPath } from 'node:url'
import { isInside } from '../../lib/is-inside.ts'
import type { Problem } from '../../lib/problem.ts'
import { safeUrl } from '../../lib/safe-url.ts'
import type { Source } from '../model/source.ts'
import * as told from './url-problems.ts'

export interface FileLimits {
  readonly root: string
  readonly mostBytes: number
}

export function readFileUrl(url: URL, { root, mostBytes }: FileLimits): Source | Problem {
  let fd: number | undefined
  try {
    const path = fileURLToPath(url)
    // Before it is opened, since some devices do something then.
    if (!fs.statSync(path).isFile()) return told.fileRefused(url)
    fd = fs.openSync(path, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK)
    if (!isInside(fs.readlinkSync(openFile(fd)), fs.realpathSync(root)) || !isStored(fd)) return told.fileRefused(url)
    const { size } = fs.fstatSync(fd)
    if (size === 0) return told.fileRefused(url)
    if (size > mostBytes) return told.tooLarge(url, mostBytes)
    const content = Buffer.alloc(size)
    return { name: safeUrl(url), content: content.subarray(0, fs.readSync(fd, content)) }
  } catch {
    return told.fileRefused(url)
  } finally {
    if (fd !== undefined) fs.closeSync(fd)
  }
}

const openFile = (fd: number) => `/proc/self/fd/${fd}`

/** A regular file, and not one that the kernel makes up: proc, sysfs, cgroups and their like. */
const isStored = (fd: number): boolean =>
  fs.fstatSync(fd).isFile() && !madeUp.has(fs.statfsSync(openFile(fd)).type >>> 0)

/** Magic numbers of linux/magic.h. */
const madeUp = new Set([
  0x9fa0, // proc
  0x62656572, // sysfs
  0x1cd1, // devpts
  0x27e0eb, // cgroup
  0x63677270, // cgroup2
  0x64626720, // debugfs
  0x74726163, // tracefs
  0x73636673, // securityfs
  0xcafe4a11, // bpf
  0x62656570, // configfs
  0x6165676c, // pstore
  0xde5e81e4, // efivarfs
  0x42494e4d, // binfmt_misc
  0x6e736673, // namespaces
  0xf97cff8c, // selinux
  0x19800202, // message queues
])
