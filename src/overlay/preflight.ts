// The last look before anything changes: what the switch needs is there, whole and readable, and the disk has room. All that
// is wrong comes together; nothing has been touched when it refuses.
import { statfsSync } from 'node:fs'
import { join } from 'node:path'
import { isErrno, RefusedError } from '../lib/errors.ts'
import type { Problem } from '../lib/problem.ts'
import { findProgram, run } from '../lib/run.ts'
import { printSize } from '../lib/size.ts'
import { closureOf } from './closure.ts'
import type { NodeContext } from './context.ts'
import type { Destination } from './destination.ts'
import { statePath } from './layout.ts'
import type { StateName, UnitName } from './names.ts'
import type { ProposedSwitch } from './propose.ts'
import { quickCheck, verifyStates } from './store/verify.ts'
import type { UnitPlan } from './units/action.ts'

/** Journal, generation, copies and directories all have to fit, with something left for the way back. */
const spareBytes = 8 * 1024 * 1024
const spareInodes = 256

export async function preflight(
  context: NodeContext,
  { destination, proposed, verify }: { destination: Destination; proposed: ProposedSwitch; verify: boolean },
) {
  const problems = [
    ...stateProblems(context, destination.etcState, verify),
    ...spaceProblems(context, destination),
    ...(await unitProblems(context, destination, proposed.units)),
  ]
  if (problems.length > 0) throw new RefusedError('preflight.failed', 'This cannot work as it stands.', { problems })
}

/** `verify` reads every byte; else sizes and counts are compared. */
export function stateProblems({ files, layout }: NodeContext, etcState: StateName | null, verify: boolean): Problem[] {
  const closure = [...closureOf(files, layout, etcState)]
  const records = closure.flatMap(([, record]) => record ?? [])
  const missing = closure.filter(([, record]) => !record).map(([state]) => stateProblem(state, 'is not in the store'))
  const damaged = verify
    ? verifyStates(files, layout, records).map(({ state }) => state)
    : records.filter(record => !quickCheck(files, layout, record)).map(({ state }) => state)
  return [...missing, ...damaged.map(state => stateProblem(state, 'is not as it was sealed'))]
}

const stateProblem = (state: StateName, reason: string): Problem => ({
  code: 'state.damaged',
  path: '',
  reason: `${state} ${reason}`,
  hint: 'cairn node verify --repair mends what it can; cairn node prepare fetches what is missing.',
})

function spaceProblems({ files, layout }: NodeContext, { entries }: Destination): Problem[] {
  const store = join(layout.prefix || '/', layout.store)
  const needed = spareBytes + entries.length * 1024
  const fileSystems = new Map([store, layout.etc].map(path => [files.lstat(path)?.dev, path]))
  return [...fileSystems.values()].flatMap(path => {
    const space = freeSpace(path)
    if (!space) return []
    if (space.bytes < needed)
      return [
        {
          code: 'disk.full',
          path: '',
          reason: `${path} has ${printSize(space.bytes)} left, ${printSize(needed)} are needed`,
        },
      ]
    if (space.inodes !== null && space.inodes < spareInodes + entries.length)
      return [{ code: 'disk.full', path: '', reason: `${path} has room for ${space.inodes} more files only` }]
    return []
  })
}

function freeSpace(path: string): { bytes: number; inodes: number | null } | null {
  try {
    const { bavail, bsize, ffree, files } = statfsSync(path)
    return { bytes: bavail * bsize, inodes: files > 0 ? ffree : null }
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return null
    throw error
  }
}

/** What systemd itself says about the units that are to be started under a new definition, siblings in sight. */
async function unitProblems(
  { systemd, layout, files }: NodeContext,
  { etcState }: Destination,
  { start, restart, reload }: UnitPlan,
): Promise<Problem[]> {
  const units = [...start, ...restart, ...reload].filter(({ hidden }) => !hidden).map(({ name }) => name)
  const analyze = findProgram('systemd-analyze')
  if ((systemd.kind !== 'dbus' && systemd.kind !== 'systemctl') || !analyze || !etcState) return []
  const directory = join(statePath(layout, etcState), 'etc/systemd/system')
  const own = units.filter(unit => !unit.includes('@') && files.lstat(join(directory, unit)))
  if (own.length === 0) return []
  const args = ['verify', '--man=no', '--recursive-errors=no', '--', ...own.map(unit => join(directory, unit))]
  const { code, stderr } = await run(analyze, args, { env: { SYSTEMD_UNIT_PATH: `${directory}:` }, timeoutMs: 60_000 })
  return code === 0 ? [] : linesAbout(own, stderr)
}

/** A key that this systemd does not know, and leaves aside, is no reason to refuse a unit. */
function linesAbout(units: readonly UnitName[], stderr: string): Problem[] {
  const lines = stderr.split('\n').filter(line => line.trim() !== '' && !/, ignoring(:|\.|$)/.test(line))
  const about = lines.filter(line => units.some(unit => line.includes(unit)))
  return (about.length > 0 ? about : lines.slice(-5)).map(line => ({
    code: 'unit.refused-by-systemd',
    path: '',
    reason: line.trim(),
  }))
}
