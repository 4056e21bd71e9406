// What a unit's own processes logged. Systemd's words about the unit are left out: its status says the same.
import { findProgram, run } from '../../lib/run.ts'
import type { UnitName } from '../names.ts'

const answerMs = 30_000

/** Oldest first. `through` as in systemctl.ts. */
export async function readLastLines(unit: UnitName, count: number, through: readonly string[]): Promise<string[]> {
  const journalctl = findProgram('journalctl')
  if (!journalctl) return []
  const read = (...args: string[]) => {
    const [program = '', ...rest] = [...through, journalctl, '--quiet', ...args]
    return run(program, rest, { timeoutMs: answerMs })
  }
  // The journal takes lines up with a delay; the ones that matter are those of a unit that has just failed.
  await read('--sync')
  const { stdout } = await read('--no-pager', '--output=cat', `--lines=${count}`, `_SYSTEMD_UNIT=${unit}`)
  return stdout.split('\n').slice(0, -1)
}
