// The real file system with a fault at one call: it fails (once, and the code under test may clean up), or the process
// "dies" there (that call and every later change throw Crash, so that no cleanup runs). Only changes are counted, from 1.
import { constants } from 'node:fs'
import type { Files } from './files.ts'

export type FaultPlan =
  | { readonly failAt: number; readonly code: 'ENOSPC' | 'EACCES' | 'EROFS' | 'EIO' | 'EXDEV' | 'EMLINK' }
  | { readonly crashAt: number }

export interface FaultyFiles extends Files {
  /** Changes asked for so far. */
  readonly calls: number
  /** `rename /a /b`, `write 5`; one for each of them. */
  readonly log: readonly string[]
}

export class Crash extends Error {
  constructor(call: string) {
    super(`crashed at ${call}`)
  }
}

type Changing = Exclude<
  keyof Files,
  'lstat' | 'readFile' | 'readlink' | 'readdir' | 'readdirTypes' | 'read' | 'fstat' | 'close'
>

/** Without a plan it only counts. A write that crashes has written half of its bytes. */
export function faultyFiles(files: Files, plan?: FaultPlan): FaultyFiles {
  const log: string[] = []
  let crashed = false

  const step = (call: string, beforeCrash?: () => void) => {
    log.push(call)
    if (crashed) throw new Crash(call)
    if (!plan) return
    if ('crashAt' in plan && log.length === plan.crashAt) {
      beforeCrash?.()
      crashed = true
      throw new Crash(call)
    }
    if ('failAt' in plan && log.length === plan.failAt)
      throw Object.assign(new Error(`${plan.code}: injected at ${call}`), { code: plan.code })
  }
  const changing =
    <K extends Changing>(name: K) =>
    (...args: Parameters<Files[K]>): ReturnType<Files[K]> => {
      step(`${name} ${args.filter(arg => typeof arg !== 'object').join(' ')}`)
      return (files[name] as (...args: Parameters<Files[K]>) => ReturnType<Files[K]>)(...args)
    }

  return {
    ...files,
    get calls() {
      return log.length
    },
    log,
    mkdir: changing('mkdir'),
    symlink: changing('symlink'),
    link: changing('link'),
    rename: changing('rename'),
    unlink: changing('unlink'),
    rmdir: changing('rmdir'),
    chmod: changing('chmod'),
    lchown: changing('lchown'),
    lutimes: changing('lutimes'),
    fchmod: changing('fchmod'),
    fchown: changing('fchown'),
    futimes: changing('futimes'),
    fsync: changing('fsync'),
    open: (path, flags, mode) => {
      const writes = constants.O_WRONLY | constants.O_RDWR | constants.O_CREAT | constants.O_TRUNC
      if (flags & writes) step(`open ${path}`)
      return files.open(path, flags, mode)
    },
    write: (fd, bytes) => {
      step(`write ${fd}`, () => files.write(fd, bytes.subarray(0, bytes.length >> 1)))
      files.write(fd, bytes)
    },
  }
}
