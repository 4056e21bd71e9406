// Who may take how much room. One ledger: what is promised is not promised again. Before anyone is refused, blobs that
// nobody wants make room, the one that was unwanted longest first.
import { printSize } from '../../lib/size.ts'
import type { Blob, Switchboard, Turn, Volume } from './model.ts'
import type { Failure } from './protocol.ts'

const mostForTheSystem = 2 * 2 ** 30

/** Bytes that nobody has been promised, with room for the system left alone. Below zero when too much was promised. */
export function roomIn({ space, settings, reserved }: Switchboard): number {
  if (!space) return 0
  const forTheSystem = settings.reserve ? Math.min(Math.floor(space.total / 5), mostForTheSystem) : 0
  return space.free - forTheSystem - reserved
}

/** Puts the promise of an entity at `bytes`, whatever there is. */
export function holdRoom({ state }: Turn, holder: Blob | Volume, bytes: number) {
  state.reserved += bytes - holder.reserved
  holder.reserved = bytes
}

/** Null when the room is there and promised now; else why not, and `holder` is looked at again when there is more. */
export function askForRoom(turn: Turn, holder: Blob | Volume, entity: string, bytes: number): Failure | null {
  const { state } = turn
  const room = roomIn(state) + holder.reserved
  if (bytes <= room) {
    state.waiting.delete(entity)
    holdRoom(turn, holder, bytes)
    return null
  }
  state.waiting.add(entity)
  state.refusedAt = Math.max(state.refusedAt, room)
  makeRoom(turn, bytes - room)
  return {
    code: 'content.no-space',
    text: `${bytes} bytes (${printSize(bytes)}) are needed, and ${Math.max(room, 0)} (${printSize(Math.max(room, 0))}) are free`,
  }
}

function makeRoom({ state }: Turn, shortage: number) {
  if (state.settings.maintenance) return
  const unwanted = [...state.blobs.values()].filter(({ unwanted }) => unwanted !== null)
  let coming = 0
  for (const blob of unwanted) if (blob.isExpiring) coming += blob.size
  const oldestFirst = unwanted
    .filter(({ isExpiring }) => !isExpiring)
    .sort((a, b) => a.unwanted!.sinceWall - b.unwanted!.sinceWall)
  for (const blob of oldestFirst) {
    if (coming >= shortage) return
    blob.isExpiring = true
    coming += blob.size
    state.dirty.blob.add(blob.key)
  }
}

/** Those who were refused are looked at again when there is more room than they were told. */
export function wakeWaiting({ state }: Turn) {
  if (state.waiting.size === 0) {
    state.refusedAt = 0
    return
  }
  if (roomIn(state) <= state.refusedAt) return
  state.refusedAt = 0
  for (const entity of state.waiting) {
    const at = entity.indexOf(' ')
    state.dirty[entity.slice(0, at) as 'blob' | 'volume'].add(entity.slice(at + 1))
  }
}
