// SELinux labels: a file that takes another's place takes its label too. Node has no call for it, so chcon does it, on
// machines that have SELinux; elsewhere, and on file systems without labels, there is nothing to keep.
import { spawnSync } from 'node:child_process'
import type { Files } from '../../lib/files.ts'
import { findProgram } from '../../lib/run.ts'

/** Gives `path` the label of `reference`. */
export type KeepLabel = (reference: string, path: string) => void

export function labelKeeper(files: Files): KeepLabel {
  const chcon = files.lstat('/sys/fs/selinux/enforce') && findProgram('chcon')
  if (!chcon) return () => {}
  return (reference, path) => {
    spawnSync(chcon, ['--no-dereference', `--reference=${reference}`, '--', path], { stdio: 'ignore' })
  }
}
