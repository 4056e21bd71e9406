// Tests that need a real component say so. Where it is missing they skip and say why on standard error; with
// CAIRN_REQUIRE=all (as in CI) they fail instead, so that a green run means that everything ran.
import { existsSync } from 'node:fs'
import { describe, it } from 'vitest'
import { findProgram } from '../src/lib/run.ts'
import { schemathesisPrograms } from './bundles/schemathesis-programs.ts'
import { postgresPrograms } from './server/postgres-programs.ts'

/** `root`, `loop` for loop devices, `postgres` and `schemathesis` wherever they are, or the name of a program. */
export type Component =
  | 'root'
  | 'loop'
  | 'blkid'
  | 'busybox'
  | 'cloud-init'
  | 'containerd'
  | 'ctr'
  | 'debootstrap'
  | 'docker-registry'
  | 'insmod'
  | 'isoinfo'
  | 'jsonnet'
  | 'linux.uml'
  | 'mkfs.btrfs'
  | 'mkfs.ext4'
  | 'mkfs.xfs'
  | 'nsenter'
  | 'openssl'
  | 'postgres'
  | 'qemu-img'
  | 'runc'
  | 'schemathesis'
  | 'skopeo'
  | 'strace'
  | 'systemd-nspawn'
  | 'umoci'
  | 'unshare'
  | 'xz'

/** What a machine of test/machine/ needs. */
export const machineComponents: readonly Component[] = ['root', 'debootstrap', 'systemd-nspawn', 'nsenter', 'unshare']

export function describeWith(components: readonly Component[], title: string, body: () => void) {
  const missing = components.map(requires).filter(reason => reason !== null)
  if (missing.length === 0) return describe(title, body)
  const reason = missing.join(', ')
  if (process.env.CAIRN_REQUIRE === 'all')
    return describe(title, () => {
      it('has what it needs, since CAIRN_REQUIRE=all', () => {
        throw new Error(reason)
      })
    })
  process.stderr.write(`skipped: ${title}: ${reason}\n`)
  return describe.skip(title, body)
}

/** Null when it is there. */
function requires(component: Component): string | null {
  if (component === 'root') return process.getuid?.() === 0 ? null : 'needs root'
  if (component === 'loop') return existsSync('/dev/loop-control') ? null : 'needs loop devices'
  if (component === 'postgres') return postgresPrograms() ? null : 'needs PostgreSQL'
  if (component === 'schemathesis')
    return schemathesisPrograms() ? null : 'needs test/bundles/schemathesis.txt installed'
  return findProgram(component) ? null : `needs the program ${component}`
}
