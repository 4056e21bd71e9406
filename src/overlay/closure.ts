// What a generation needs to run: its etc state and every state that it leads to.
import type { Files } from '../lib/files.ts'
import type { Layout } from './layout.ts'
import type { StateName } from './names.ts'
import { readRecord, type StateRecord, withoutTidying } from './store/record.ts'

/** Null for a state that is not valid. The etc state comes first. Only looks: who installs is the one to say what was wrong. */
export function closureOf(
  files: Files,
  layout: Layout,
  etcState: StateName | null,
): Map<StateName, StateRecord | null> {
  const looking = withoutTidying(files)
  const closure = new Map<StateName, StateRecord | null>()
  const open = etcState === null ? [] : [etcState]
  for (let state = open.pop(); state !== undefined; state = open.pop()) {
    if (closure.has(state)) continue
    const record = readRecord(looking, layout, state, () => {})
    closure.set(state, record)
    open.push(...(record?.references ?? []))
  }
  return closure
}
