// Tests that need a real component say so. Where it is missing they skip and say why on standard error; with
// CAIRN_REQUIRE=all (as in CI) they fail instead, so that a green run means that everything ran.
import { describe, it } from 'vitest'
import { findProgram } from '../src/lib/run.ts'

/** `root`, or the name of a program. */
export type Component = 'root' | 'debootstrap' | 'nsenter' | 'strace' | 'systemd-nspawn' | 'unshare' | 'xz'

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
  return findProgram(component) ? null : `needs the program ${component}`
}
