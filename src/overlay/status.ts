// Is this machine as its generation says? Compares /etc with the manifest and asks systemd about the units. Changes nothing.

import { hereOf } from './activate.ts'
import { isBootTarget } from './boot-unit.ts'
import type { NodeContext } from './context.ts'
import { unitTree } from './destination.ts'
import { driftOf } from './etc/drift.ts'
import type { OwnedEtc } from './etc/entry.ts'
import { readLive } from './etc/live.ts'
import { resolveOwners, thisProcess } from './etc/owners.ts'
import { scanEtc } from './etc/scan.ts'
import { readGeneration } from './generations.ts'
import { readJournals } from './journal.ts'
import type { StateName, UnitName } from './names.ts'
import type { UnitStatus } from './systemd/systemd.ts'
import { isTemplate, isUnitFileName } from './units/unit-name.ts'

export interface NodeStatus {
  readonly generation: number | null
  readonly version: string | null
  readonly etcState: StateName | null
  readonly drift: readonly { readonly target: string; readonly what: string; readonly detail: string }[]
  readonly units: readonly {
    readonly name: UnitName
    readonly active: string
    readonly sub: string
    readonly problem?: string
  }[]
  /** Links into the store that no entry accounts for; found only by a scan. */
  readonly stray: readonly string[]
  readonly pendingConfirm?: { readonly id: string; readonly deadline: string }
  readonly openJournal?: string
}

export async function readStatus(context: NodeContext, { scan }: { scan: boolean }): Promise<NodeStatus> {
  const { files, layout, systemd } = context
  const { open, unreadable } = readJournals(files, layout)
  const held = open.find(({ progress }) => progress?.phase === 'held') ?? null
  const working = open.find(({ progress }) => progress?.phase !== 'held')
  const { side, owned } = hereOf(context, held)
  const hold = held?.journal.hold
  return {
    generation: side.generation,
    version: side.generation === null ? null : readGeneration(files, layout, side.generation).version,
    etcState: side.etcState,
    drift: await driftFrom(context, owned),
    units: systemd.kind === 'offline' ? [] : await unitsOf(context, owned),
    stray: scan ? strayLinks(context, owned) : [],
    ...(held && hold?.kind === 'confirm' && { pendingConfirm: { id: held.journal.id, deadline: hold.deadline.at } }),
    ...(unreadable[0] && { openJournal: `${unreadable[0].id}, not finished and not readable` }),
    ...(working && { openJournal: `${working.journal.intent} from ${working.journal.startedAt}, not finished` }),
  }
}

async function driftFrom({ files, layout, clock }: NodeContext, owned: OwnedEtc): Promise<NodeStatus['drift']> {
  const { ids } = await resolveOwners({ files, layout, applier: thisProcess() }, { wanted: [], owned: owned.entries })
  const live = readLive(files, layout, { wanted: owned, owned, ids, overwriteDrift: new Set() }, clock.now())
  return driftOf(live, owned).map(({ target, what, reason }) => ({ target: target ?? 'static', what, detail: reason }))
}

async function unitsOf({ files, layout, systemd }: NodeContext, owned: OwnedEtc): Promise<NodeStatus['units']> {
  const names = [...unitTree(files, layout, owned.entries).keys()]
    .filter(isUnitFileName)
    .filter(name => !isTemplate(name) && !isBootTarget(`/${name}`))
  const live = await systemd.show(names)
  return names.map(name => {
    const status = live.get(name)!
    const problem = problemOf(status)
    return { name, active: status.active, sub: status.sub, ...(problem && { problem }) }
  })
}

function problemOf({ active, result, needDaemonReload }: UnitStatus): string | null {
  if (active === 'failed') return `failed (${result})`
  return needDaemonReload ? 'its files changed since systemd read them; systemctl daemon-reload' : null
}

function strayLinks({ files, layout }: NodeContext, owned: OwnedEtc): string[] {
  const known = new Set(owned.entries.map(({ target }) => target))
  return scanEtc(files, layout)
    .links.map(({ target }) => target)
    .filter(target => !known.has(target))
}
