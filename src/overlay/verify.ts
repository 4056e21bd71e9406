// Reads every byte of the store again and says what is no longer as it was sealed; mends it when asked to.
import type { NodeContext } from './context.ts'
import type { StateName } from './names.ts'
import { readRecord, recordedStates, type StateRecord, withoutTidying } from './store/record.ts'
import { verifyStates } from './store/verify.ts'

export interface Verified {
  readonly checked: number
  readonly bytes: number
  readonly damaged: readonly DamagedState[]
}

export interface DamagedState {
  readonly state: StateName
  /** `path` is inside the state; '.' is the state itself. */
  readonly differences: readonly { readonly path: string; readonly what: string }[]
  /** Absent when no repair was asked for. */
  readonly repaired?: boolean
  /** Why it could not be repaired. */
  readonly reason?: string
}

export async function verifyStore(context: NodeContext, { repair }: { repair: boolean }): Promise<Verified> {
  const { files, layout, progress } = context
  const { records, unreadable } = readRecords(context)
  const bytes = records.reduce((sum, { size }) => sum + size, 0)
  const task = progress.begin('verify', bytes)
  const damaged = verifyStates(files, layout, records, ({ size }) => task.advance(size)).map(({ state, damage }) => ({
    state,
    differences: damage.map(({ path, what, detail }) => ({
      path: path || '.',
      what: detail ? `${what}: ${detail}` : what,
    })),
  }))
  task.done()
  const found = [...unreadable, ...damaged]
  const checked = records.length + unreadable.length
  return { checked, bytes, damaged: repair && found.length > 0 ? await mend(context, records, found) : found }
}

/** A record that cannot be read, or whose state is gone, is damage too; looking at it changes nothing. */
function readRecords({ files, layout }: NodeContext): { records: StateRecord[]; unreadable: DamagedState[] } {
  const looking = withoutTidying(files)
  const records: StateRecord[] = []
  const unreadable: DamagedState[] = []
  for (const state of files.lstat(layout.records) ? recordedStates(files, layout) : []) {
    let what = 'missing: the directory of the state is gone'
    const record = readRecord(looking, layout, state, () => {
      what = 'its record cannot be read'
    })
    if (record) records.push(record)
    else unreadable.push({ state, differences: [{ path: '.', what }] })
  }
  return { records, unreadable }
}

async function mend(
  context: NodeContext,
  records: readonly StateRecord[],
  damaged: readonly DamagedState[],
): Promise<DamagedState[]> {
  const [{ rebuilder }, { repairStates }] = await Promise.all([import('./rebuild.ts'), import('./store/repair.ts')])
  const bad = new Set(damaged.map(({ state }) => state))
  const { repaired, notRepaired } = await repairStates(
    records.filter(({ state }) => bad.has(state)),
    { ...context, signal: new AbortController().signal },
    rebuilder(context),
  )
  const reasons = new Map(notRepaired.map(({ state, reason }) => [state, reason]))
  return damaged.map(each =>
    repaired.includes(each.state)
      ? { ...each, repaired: true }
      : {
          ...each,
          repaired: false,
          reason: reasons.get(each.state) ?? 'nothing says what it was; cairn node prepare builds it again',
        },
  )
}
