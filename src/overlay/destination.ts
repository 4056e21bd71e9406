// Where a switch leads: an etc state with its entries, each told where in the config it was declared, and the unit files
// among them as systemd will read them.
import { join } from 'node:path'
import type { Files } from '../lib/files.ts'
import { fieldPath } from '../lib/located-json.ts'
import type { OverlayConfig } from '../resources/overlay-config.ts'
import { bootEntries, boots } from './boot-unit.ts'
import type { NodeContext } from './context.ts'
import type { EtcEntry, EtcManifest } from './etc/entry.ts'
import { wantedAgain } from './etc/owned.ts'
import { readConfigOf, readGeneration } from './generations.ts'
import { type Layout, statePath } from './layout.ts'
import { byName, type StateName, type UnitName } from './names.ts'
import type { UnitFile, UnitTree } from './units/action.ts'
import { unitNameOf } from './units/unit-name.ts'

export interface Destination {
  /** Null when it is new, or nowhere. */
  readonly generation: number | null
  readonly version: string
  readonly config: OverlayConfig
  readonly etcState: StateName | null
  /** Sorted by target. */
  readonly entries: readonly EtcEntry[]
  /** Units to start when new, even if nothing that runs wants them. */
  readonly start: ReadonlySet<UnitName>
}

/** Uninstall is a switch to here. */
export const nowhere: Destination = {
  generation: null,
  version: '',
  config: { version: '' },
  etcState: null,
  entries: [],
  start: new Set(),
}

export function destinationOf(
  { files, layout, systemd }: NodeContext,
  { generation, etcState, config }: { generation: number | null; etcState: StateName; config: OverlayConfig },
): Destination {
  const path = join(statePath(layout, etcState), 'manifest.json')
  const manifest = JSON.parse(files.readFile(path).toString('utf8')) as EtcManifest
  const places = placesOf(config)
  const declared = manifest.entries.map(entry => ({
    ...entry,
    declaredAt: places.get(entry.target) ?? places.get(entry.from) ?? '',
  }))
  const entries = boots(systemd) ? [...declared, ...bootEntries(layout)].sort(byTarget) : declared
  return { generation, version: config.version, config, etcState, entries, start: startedUnits(config) }
}

/** What the generation had taken over, it takes over again. */
export function destinationOfGeneration(context: NodeContext, generation: number | null): Destination {
  if (generation === null) return nowhere
  const owned = readGeneration(context.files, context.layout, generation)
  if (owned.etcState === null) return { ...nowhere, generation }
  const config = readConfigOf(context.files, context.layout, generation)
  const destination = destinationOf(context, { generation, etcState: owned.etcState, config })
  return { ...destination, entries: wantedAgain({ ...owned, entries: destination.entries }).entries }
}

const unitsDirectory = 'systemd/system/'

/** What lies in systemd/system/ when these entries are in place. Links below .wants/ count by their name alone. */
export function unitTree(files: Files, layout: Layout, entries: readonly EtcEntry[]): UnitTree {
  const tree = new Map<string, UnitFile>()
  for (const entry of entries) {
    if (!entry.target.startsWith(unitsDirectory)) continue
    const path = entry.target.slice(unitsDirectory.length)
    if (entry.kind === 'direct') tree.set(path, { link: entry.text })
    else if (/\.(wants|requires|upholds)\//.test(path)) tree.set(path, { link: `../${path.split('/').at(-1)}` })
    else tree.set(path, { text: files.readFile(join(statePath(layout, entry.state), entry.source)).toString('utf8') })
  }
  return tree
}

function startedUnits({ systemdUnitsByName = {} }: OverlayConfig): Set<UnitName> {
  return new Set(
    Object.entries(systemdUnitsByName)
      .filter(([, unit]) => unit.start)
      .map(([key]) => unitNameOf(key) as UnitName),
  )
}

/** Where a target is declared, and for all that belongs to a unit, where the unit is. */
function placesOf({ packageByNames = {}, systemdUnitsByName = {} }: OverlayConfig): Map<string, string> {
  const places = new Map<string, string>()
  for (const key of Object.keys(systemdUnitsByName))
    places.set(`unit ${unitNameOf(key)}`, fieldPath('systemdUnitsByName', key))
  for (const [name, { etcFiles = [] }] of Object.entries(packageByNames))
    for (const [index, { target }] of etcFiles.entries())
      places.set(target, fieldPath(`${fieldPath('packageByNames', name)}.etcFiles`, index))
  return places
}

const byTarget = (a: EtcEntry, b: EtcEntry) => byName(a.target, b.target)
