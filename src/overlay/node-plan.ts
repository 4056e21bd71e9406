// The answer to "what would apply do": packages, /etc with the content that changes, units with the reason for each.
import { join } from 'node:path'
import { diffText } from '../lib/diff.ts'
import { canonicalJson, type Json } from '../lib/json.ts'
import type { Problem, Warning } from '../lib/problem.ts'
import { hereOf } from './activate.ts'
import { isBootTarget } from './boot-unit.ts'
import type { NodeContext } from './context.ts'
import { destinationOf } from './destination.ts'
import type { EtcEntry } from './etc/entry.ts'
import { isSettled } from './etc/plan.ts'
import type { EtcSummary, EtcChange as EtcTargetChange } from './etc/summary.ts'
import { readConfigOf } from './generations.ts'
import { readJournals } from './journal.ts'
import { statePath } from './layout.ts'
import { byName } from './names.ts'
import type { Prepared } from './prepare.ts'
import { proposeSwitch } from './propose.ts'
import type { UnitPlan } from './units/action.ts'

export interface NodePlan {
  readonly version: string
  /** False: apply would do nothing. */
  readonly changes: boolean
  readonly packages: {
    readonly add: readonly PackageVersion[]
    readonly change: readonly (PackageVersion & { readonly was: string })[]
    readonly remove: readonly PackageVersion[]
  }
  readonly etc: { readonly [K in keyof EtcSummary]: readonly EtcChange[] }
  readonly units: UnitPlan
  readonly warnings: readonly Warning[]
  readonly problems: readonly Problem[]
}

export interface PackageVersion {
  readonly name: string
  readonly version: string
}

export interface EtcChange extends EtcTargetChange {
  /** Lines that begin with a blank, - or +; only for text that changes. */
  readonly diff?: readonly string[]
}

export async function planNodeSwitch(
  context: NodeContext,
  { config, etcState, warnings }: Pick<Prepared, 'config' | 'etcState' | 'warnings'>,
  overwriteDrift: readonly string[],
): Promise<NodePlan> {
  const { files, layout } = context
  const held = readJournals(files, layout).open.find(({ progress }) => progress?.phase === 'held') ?? null
  const here = hereOf(context, held)
  const destination = destinationOf(context, { generation: null, etcState, config })
  const proposed = await proposeSwitch(context, { destination, owned: here.owned, overwriteDrift })
  const { add, change, remove, conflict } = proposed.etc.summary
  const former = here.side.generation === null ? { version: '' } : readConfigOf(files, layout, here.side.generation)
  const [before, after] = [byTarget(here.owned.entries), byTarget(destination.entries)]
  const withDiff = (item: EtcTargetChange): EtcChange => {
    const diff = diffOf(context, before.get(item.target), after.get(item.target))
    return diff ? { ...item, diff } : item
  }
  return {
    version: config.version,
    changes: !isSettled(proposed.etc) || etcState !== here.side.etcState || !isEqual(former, config),
    packages: packageChanges(former.packageByNames ?? {}, config.packageByNames ?? {}),
    etc: {
      add: add.filter(isDeclared),
      change: change.filter(isDeclared).map(withDiff),
      remove: remove.filter(isDeclared),
      conflict,
    },
    units: proposed.units,
    warnings: [...warnings, ...proposed.warnings],
    problems: proposed.problems,
  }
}

const isEqual = (a: object, b: object) => canonicalJson(a as Json) === canonicalJson(b as Json)

/** Cairn's own entries are not worth a person's time. */
const isDeclared = ({ target }: EtcTargetChange) => !isBootTarget(target)

const byTarget = (entries: readonly EtcEntry[]) => new Map(entries.map(entry => [entry.target as string, entry]))

function diffOf(
  { files, layout }: NodeContext,
  before: EtcEntry | undefined,
  after: EtcEntry | undefined,
): string[] | null {
  if (!before || !after || !('state' in before) || !('state' in after) || before.sha256 === after.sha256) return null
  const [was, is] = [before, after].map(({ state, source }) => join(statePath(layout, state), source)) as [
    string,
    string,
  ]
  const isFile = (path: string) => files.lstat(path)?.isFile()
  return isFile(was) && isFile(is) ? diffText(files.readFile(was), files.readFile(is)) : null
}

type Packages = Readonly<Record<string, { readonly version: string }>>

function packageChanges(former: Packages, wanted: Packages): NodePlan['packages'] {
  const sorted = (packages: Packages) => Object.keys(packages).sort(byName)
  const item = (packages: Packages) => (name: string) => ({ name, version: packages[name]!.version })
  return {
    add: sorted(wanted)
      .filter(name => !former[name])
      .map(item(wanted)),
    change: sorted(wanted)
      .filter(name => former[name] && !isEqual(former[name]!, wanted[name]!))
      .map(name => ({ ...item(wanted)(name), was: former[name]!.version })),
    remove: sorted(former)
      .filter(name => !wanted[name])
      .map(item(former)),
  }
}
