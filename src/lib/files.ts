// The file system as a port: every change Cairn makes to a disk goes through one of these calls, so that a test can fail
// or stop at each of them (files.fake.ts). Synchronous, because a sequence of durable steps reads as one and costs less.
import * as fs from 'node:fs'
import { isErrno } from './errors.ts'

export interface Files {
  /** Null when nothing is there (also when a parent is missing or is not a directory). Never follows the last link. */
  lstat(path: string): fs.Stats | null
  readFile(path: string): Buffer
  readlink(path: string): string
  /** Names only, in no order. */
  readdir(path: string): string[]
  readdirTypes(path: string): fs.Dirent[]

  mkdir(path: string, mode?: number): void
  symlink(text: string, path: string): void
  link(existing: string, path: string): void
  rename(from: string, to: string): void
  unlink(path: string): void
  rmdir(path: string): void
  chmod(path: string, mode: number): void
  lchown(path: string, uid: number, gid: number): void
  /** Seconds since the epoch; does not follow a link. */
  lutimes(path: string, atime: number, mtime: number): void

  open(path: string, flags: number, mode?: number): number
  read(fd: number, into: Buffer): number
  write(fd: number, bytes: Uint8Array): void
  fstat(fd: number): fs.Stats
  fchmod(fd: number, mode: number): void
  fchown(fd: number, uid: number, gid: number): void
  futimes(fd: number, atime: number, mtime: number): void
  fsync(fd: number): void
  close(fd: number): void
}

export const realFiles: Files = {
  lstat: path => orNull(() => fs.lstatSync(path, { throwIfNoEntry: false })),
  readFile: path => fs.readFileSync(path),
  readlink: path => fs.readlinkSync(path),
  readdir: path => fs.readdirSync(path),
  readdirTypes: path => fs.readdirSync(path, { withFileTypes: true }),

  mkdir: (path, mode = 0o755) => fs.mkdirSync(path, { mode }),
  symlink: (text, path) => fs.symlinkSync(text, path),
  link: (existing, path) => fs.linkSync(existing, path),
  rename: (from, to) => fs.renameSync(from, to),
  unlink: path => fs.unlinkSync(path),
  rmdir: path => fs.rmdirSync(path),
  chmod: (path, mode) => fs.chmodSync(path, mode),
  lchown: (path, uid, gid) => fs.lchownSync(path, uid, gid),
  lutimes: (path, atime, mtime) => fs.lutimesSync(path, atime, mtime),

  open: (path, flags, mode) => fs.openSync(path, flags, mode),
  read: (fd, into) => fs.readSync(fd, into),
  write: (fd, bytes) => {
    for (let at = 0; at < bytes.length; ) at += fs.writeSync(fd, bytes, at)
  },
  fstat: fd => fs.fstatSync(fd),
  fchmod: (fd, mode) => fs.fchmodSync(fd, mode),
  fchown: (fd, uid, gid) => fs.fchownSync(fd, uid, gid),
  futimes: (fd, atime, mtime) => fs.futimesSync(fd, atime, mtime),
  fsync: fd => fs.fsyncSync(fd),
  close: fd => fs.closeSync(fd),
}

function orNull(read: () => fs.Stats | undefined): fs.Stats | null {
  try {
    return read() ?? null
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ENOTDIR')) return null
    throw error
  }
}
