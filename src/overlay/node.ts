// Everything that can be asked of one machine, one function a command. They take the lock where /etc may change, make the
// context, and call the function that knows; `cli/` and `agent/` know this file only.
import { randomUUID } from 'node:crypto'
import { dirname, join, resolve } from 'node:path'
import { lazyDoor } from '../content/lazy-door.ts'
import { realClock } from '../lib/clock.ts'
import { removeIfThere } from '../lib/durable.ts'
import { CairnError, RefusedError } from '../lib/errors.ts'
import { realFiles } from '../lib/files.ts'
import { acquireLock } from '../lib/lock.ts'
import { type Progress, silentProgress } from '../lib/progress.ts'
import { activate, type Here } from './activate.ts'
import type { ConfigText } from './config/read.ts'
import type { NodeContext } from './context.ts'
import { destinationOf, destinationOfGeneration, nowhere } from './destination.ts'
import { currentNumber, generationNumbers, readGeneration, readReport } from './generations.ts'
import { confirmWithin, disarm } from './hold.ts'
import { closeJournal, type Hold } from './journal.ts'
import { layoutOf, makeLayout } from './layout.ts'
import type { StateName } from './names.ts'
import { type NodePlan, planNodeSwitch } from './node-plan.ts'
import { stateProblems } from './preflight.ts'
import type { Prepared } from './prepare.ts'
import { beginPurge } from './purge.ts'
import { recover } from './recover.ts'
import type { ApplyReport } from './report.ts'
import { type NodeStatus, readStatus } from './status.ts'
import { collectGarbage } from './store/gc/collect.ts'
import { openSystemd } from './systemd/choose.ts'
import { type Verified, verifyStore } from './verify.ts'
import { explainState } from './why.ts'

export type { ApplyReport, NodePlan, NodeStatus }

export interface NodeOptions {
  /** Everything below this directory; no root needed. */
  readonly root?: string
  /** As the machine sees it; default /cairn. */
  readonly store?: string
  /** Change /etc only. */
  readonly noSystemd?: boolean
  readonly progress?: Progress
  /** Fetch even where nothing keeps the verifier from a network. */
  readonly insecureNoIsolation?: boolean
  /** Shown to whoever finds the lock taken. */
  readonly command?: string
}

export interface SourceOptions {
  readonly requireChecksums?: boolean
  readonly dedup?: boolean
}

export interface PrepareReport {
  readonly version: string
  readonly etcState: StateName
  readonly packages: readonly {
    readonly name: string
    readonly kind: string
    readonly version: string
    readonly state: StateName
    readonly fresh: boolean
    readonly size: number
  }[]
  readonly warnings: Prepared['warnings']
  readonly savedBytes: number
}

export const prepareNode = (input: ConfigText, options: NodeOptions & SourceOptions): Promise<PrepareReport> =>
  withNode(options, async context => {
    const prepared = await prepareConfig(context, input, options)
    prepared.release()
    const { config, etcState, installed, warnings, savedBytes } = prepared
    const packages = installed.map(({ record, ...found }) => ({ ...found, size: record.size }))
    return { version: config.version, etcState, packages, warnings, savedBytes }
  })

export const planNode = (
  input: ConfigText,
  options: NodeOptions & SourceOptions & { overwriteDrift?: readonly string[] },
): Promise<NodePlan> =>
  withNode(options, async context => {
    const prepared = await prepareConfig(context, input, options)
    try {
      return await planNodeSwitch(context, prepared, options.overwriteDrift ?? [])
    } finally {
      prepared.release()
    }
  })

export interface ApplyOptions extends NodeOptions, SourceOptions {
  /** Goes back unless confirmed in this time. */
  readonly confirmWithinMs?: number
  /** Switches until the next boot only. */
  readonly test?: boolean
  /** Leaves a failed generation in place. */
  readonly keepFailed?: boolean
  readonly overwriteDrift?: readonly string[]
  /** Rehashes every state first. */
  readonly verify?: boolean
}

export const applyNode = (input: ConfigText, options: ApplyOptions): Promise<ApplyReport> =>
  withNode(options, async context => {
    const prepared = await prepareConfig(context, input, options)
    const { config, etcState, warnings } = prepared
    try {
      return await locked(context, options, () =>
        activate(context, {
          intent: 'apply',
          destination: () => destinationOf(context, { generation: null, etcState, config }),
          warnings,
          ...holdOf(context, options),
          ...chosen(options, 'keepFailed', 'overwriteDrift', 'verify'),
        }),
      )
    } finally {
      prepared.release()
    }
  })

export const rollbackNode = (options: NodeOptions & { to?: number }): Promise<ApplyReport> =>
  withNode(options, context =>
    locked(context, options, () =>
      activate(context, {
        intent: 'rollback',
        destination: here =>
          destinationOfGeneration(context, wholeGeneration(context, options.to ?? previousTo(context, here))),
      }),
    ),
  )

export const uninstallNode = (options: NodeOptions & { purge?: boolean }): Promise<ApplyReport> =>
  withNode(options, context =>
    locked(context, options, async () => {
      const { files, layout } = context
      const purge = options.purge ? await beginPurge(context, options.command ?? 'cairn') : null
      try {
        const report = await activate(context, { intent: 'uninstall', destination: () => nowhere })
        if (report.outcome === 'rolled back' || report.outcome === 'undo incomplete') return report
        removeIfThere(files, join(dirname(layout.current), 'recover.service'))
        purge?.remove()
        return report
      } finally {
        purge?.release()
      }
    }),
  )

export const confirmNode = (
  options: NodeOptions & { id?: string },
): Promise<{ id: string; generation: number | null }> =>
  withNode(options, context =>
    locked(context, options, async () => {
      const { held, notes } = await recover(context)
      if (held?.journal.hold?.kind !== 'confirm' || !held.journal.id.startsWith(options.id ?? ''))
        throw new RefusedError('confirm.nothing', ['Nothing waits to be confirmed.', ...notes].join(' '))
      const { id, to } = held.journal
      await disarm(context, id)
      closeJournal(context.files, context.layout, id)
      return { id, generation: to.generation }
    }),
  )

export const recoverNode = (
  options: NodeOptions,
): Promise<{ recovered: readonly string[]; outcome: 'whole' | 'undo incomplete' }> =>
  withNode(options, context =>
    locked(context, options, async () => {
      const { notes, whole } = await recover(context)
      return { recovered: notes, outcome: whole ? 'whole' : 'undo incomplete' }
    }),
  )

export interface ListedGeneration {
  readonly generation: number
  readonly version: string
  readonly createdAt: string
  readonly current: boolean
  readonly entries: number
  readonly etcState: StateName | null
  /** Null while it is being switched to. */
  readonly outcome: string | null
}

export const generationsOf = (options: NodeOptions): Promise<ListedGeneration[]> =>
  withNode(options, async context => {
    const { files, layout } = context
    const current = currentNumber(files, layout)
    return generationNumbers(files, layout).map(number => listed(context, number, number === current))
  })

/** One with a damaged manifest is listed too: it has a number, and gc can drop it. */
function listed({ files, layout }: NodeContext, number: number, current: boolean): ListedGeneration {
  try {
    const { generation, version, createdAt, entries, etcState } = readGeneration(files, layout, number)
    const outcome = readReport(files, layout, number)?.outcome ?? null
    return { generation, version, createdAt, current, entries: entries.length, etcState, outcome }
  } catch (error) {
    if (!(error instanceof CairnError)) throw error
    const createdAt = files.lstat(join(layout.generations, String(number)))!.mtime.toISOString()
    const unknown = { version: '', entries: 0, etcState: null, outcome: 'unreadable' }
    return { generation: number, createdAt, current, ...unknown }
  }
}

export const statusOf = (options: NodeOptions & { scan?: boolean }): Promise<NodeStatus> =>
  withNode(options, context => readStatus(context, { scan: options.scan === true }))

export const gcNode = (
  options: NodeOptions & { keep?: number; olderThanMs?: number; maxFreedBytes?: number; dryRun?: boolean },
) =>
  withNode({ ...options, noSystemd: true }, async context => {
    const { maxFreedBytes: maxFreed, keep, olderThanMs, dryRun } = options
    const report = await collectGarbage(context, {
      ...(keep !== undefined && { keep }),
      ...(olderThanMs !== undefined && { olderThanMs }),
      ...(maxFreed !== undefined && { maxFreed }),
      ...(dryRun !== undefined && { dryRun }),
    })
    const { states: removed, garbage, ...rest } = report
    return { ...rest, removed, resumedTrash: garbage.length }
  })

export const verifyNode = (options: NodeOptions & { repair?: boolean }): Promise<Verified> =>
  withNode({ ...options, noSystemd: true }, context => verifyStore(context, { repair: options.repair === true }))

export const whyAliveNode = (state: string, options: NodeOptions) =>
  withNode({ ...options, noSystemd: true }, async context => explainState(context, state))

async function withNode<T>(options: NodeOptions, work: (context: NodeContext) => Promise<T>): Promise<T> {
  const { root, store, noSystemd = false, progress = silentProgress } = options
  const layout = layoutOf({ ...(root !== undefined && { root: resolve(root) }), ...(store !== undefined && { store }) })
  const systemd = await openSystemd({ root: layout.prefix, noSystemd })
  const content = lazyDoor({
    root: layout.prefix || '/',
    store: layout.store,
    ...chosen(options, 'insecureNoIsolation'),
  })
  try {
    return await work({
      files: realFiles,
      layout,
      systemd,
      content,
      clock: realClock,
      progress,
      newId: randomUUID,
      self: [process.execPath, ...process.execArgv, resolve(process.argv[1] ?? '')],
    })
  } finally {
    await content.close()
    systemd.close()
  }
}

async function locked<T>(
  { files, layout, clock }: NodeContext,
  { command = 'cairn' }: NodeOptions,
  work: () => Promise<T>,
): Promise<T> {
  makeLayout(files, layout)
  const lock = await acquireLock(join(layout.locks, 'apply'), { command, clock })
  try {
    return await work()
  } finally {
    lock.release()
  }
}

/** Loaded here: reading configs and unpacking archives is half of the program, and most commands do neither. */
async function prepareConfig(
  context: NodeContext,
  input: ConfigText,
  options: NodeOptions & SourceOptions,
): Promise<Prepared> {
  const baseDirectory = input.file === '-' ? process.cwd() : dirname(resolve(input.file))
  const { prepare } = await import('./prepare.ts')
  return prepare(context, input, {
    baseDirectory,
    command: options.command ?? 'cairn',
    ...chosen(options, 'requireChecksums', 'dedup'),
  })
}

function holdOf({ clock }: NodeContext, { confirmWithinMs, test }: ApplyOptions): { hold?: () => Hold } {
  if (test) return { hold: () => ({ kind: 'test', bootId: clock.bootId() }) }
  return confirmWithinMs === undefined ? {} : { hold: () => confirmWithin(clock, confirmWithinMs) }
}

/** With a window open, back means to end it; else the newest older generation that did not fail. */
function previousTo({ files, layout }: NodeContext, { side, wayBack, held }: Here): number | null {
  if (held) return wayBack.generation
  const previous = generationNumbers(files, layout).findLast(
    number => number < (side.generation ?? 0) && readReport(files, layout, number)?.outcome !== 'went back',
  )
  if (previous === undefined)
    throw new RefusedError('generation.none', 'There is no earlier generation to go back to.', {
      hint: 'cairn node uninstall takes away what there is.',
    })
  return previous
}

/** Refuses a generation that is not there or has lost a state. */
function wholeGeneration(context: NodeContext, generation: number | null): number | null {
  const { files, layout } = context
  if (generation === null) return null
  if (!generationNumbers(files, layout).includes(generation))
    throw new RefusedError('generation.unknown', `There is no generation ${generation}.`, {
      hint: `There are: ${generationNumbers(files, layout).join(', ') || 'none'}.`,
    })
  const problems = stateProblems(context, readGeneration(files, layout, generation).etcState, false)
  if (problems.length > 0)
    throw new RefusedError('generation.incomplete', `Generation ${generation} is not complete any more.`, { problems })
  return generation
}

/** The named options that were given. */
function chosen<O extends object, K extends keyof O>(options: O, ...keys: K[]): { [P in K]?: NonNullable<O[P]> } {
  const given = keys.filter(key => options[key] !== undefined).map(key => [key, options[key]])
  return Object.fromEntries(given) as { [P in K]?: NonNullable<O[P]> }
}
