// For tests: a machine below a temporary directory, with etc states in its store as Prepare leaves them.
import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { makeDirectories } from '../../lib/durable.ts'
import { type Files, realFiles } from '../../lib/files.ts'
import { canonicalJson, sha256Hex } from '../../lib/json.ts'
import { type Layout, layoutOf, makeLayout } from '../layout.ts'
import { byName, type EtcTarget, type Sha256, type StateName } from '../names.ts'
import { applyEtc } from './apply.ts'
import { type EtcEntry, type OwnedEtc, ownsNothing } from './entry.ts'
import { type EtcView, readLive } from './live.ts'
import type { WantedEtc } from './owned.ts'
import type { OwnerIds } from './owners.ts'
import { type EtcPlan, type EtcPlanView, planEtc } from './plan.ts'
import { scanEtc } from './scan.ts'

/** The real disk without its slowest call: no test here cuts the power. */
export const unsynced: Files = { ...realFiles, fsync: () => {} }

export const t = (target: string) => target as EtcTarget

/** As whoever runs the test. */
export const nobodyDeclared: OwnerIds = { users: new Map(), groups: new Map(), uid: null, gid: null }

export const noEtc: WantedEtc = { etcState: null, entries: [] }

/** One wanted path: a text, a directory of texts, or a link of its own. */
export type Wish = { readonly replaceExisting?: true } & (
  | { readonly text: string; readonly mode?: number; readonly owner?: string }
  | { readonly tree: Readonly<Record<string, string>> }
  | { readonly direct: string }
)

/** Links that lead into no state: for counting. In ten directories. */
export const manyLinks = (count: number): WantedEtc => ({
  etcState: fakeState('etc', String(count)),
  entries: Array.from({ length: count }, (_, index) => ({
    kind: 'link' as const,
    target: t(`d${index % 10}/f${index}`),
    from: 'demo',
    declaredAt: '',
    state: fakeState('demo', ''),
    source: 'f',
    sha256: '' as Sha256,
  })),
})

export const fakeState = (name: string, content: string): StateName => {
  const digest = createHash('sha256').update(content).digest('hex')
  return `${name}-${digest.slice(0, 52).replace(/[0189]/g, digit => 'wxyz'['0189'.indexOf(digit)] ?? '')}` as StateName
}

export interface FakeMachine {
  readonly root: string
  readonly layout: Layout
  /** Puts the states of these wishes into the store. */
  want(wishes: Readonly<Record<string, Wish>>): WantedEtc
  view(wanted: WantedEtc, owned: OwnedEtc, more?: Partial<EtcView>): EtcView
  /** Plans twice, the second time with a scan, as an apply does. */
  plan(wanted: WantedEtc, owned: OwnedEtc, more?: Partial<EtcView>): EtcPlan
  /** All three parts of a plan; returns what is owned then. Throws when the plan has problems. */
  apply(wanted: WantedEtc, owned?: OwnedEtc, more?: Partial<EtcView>): OwnedEtc
  carryOut(plan: EtcPlan, files?: Files): OwnedEtc
  write(path: string, content: string, mode?: number): void
  remove(): void
}

export function fakeMachine(): FakeMachine {
  const root = fs.mkdtempSync(join(tmpdir(), 'cairn-etc-'))
  const layout = layoutOf({ root })
  makeLayout(realFiles, layout)

  const machine: FakeMachine = {
    root,
    layout,
    want: wishes => layOutStates(layout, wishes),
    view: (wanted, owned, more = {}) => ({ wanted, owned, ids: nobodyDeclared, overwriteDrift: new Set(), ...more }),
    plan: (wanted, owned, more) => {
      const view = machine.view(wanted, owned, more)
      const live = readLive(realFiles, layout, view, new Date())
      const planView: EtcPlanView = { ...view, live }
      return planEtc({ ...planView, scan: scanEtc(realFiles, layout) })
    },
    apply: (wanted, owned = ownsNothing, more) => machine.carryOut(machine.plan(wanted, owned, more)),
    carryOut: (plan, files = unsynced) => {
      if (plan.problems.length > 0) throw new Error(plan.problems.map(({ reason }) => reason).join('\n'))
      // As the journal does, so that only what survives JSON is used.
      for (const part of [plan.before, plan.switch, plan.after])
        applyEtc(JSON.parse(JSON.stringify(part)), { files, layout })
      return JSON.parse(JSON.stringify(plan.owned))
    },
    write: (path, content, mode = 0o644) => {
      const full = join(layout.etc, path)
      fs.mkdirSync(dirname(full), { recursive: true })
      // Never through a link: it may lead to /dev/null of the machine that runs the tests.
      if (fs.lstatSync(full, { throwIfNoEntry: false })?.isSymbolicLink()) fs.unlinkSync(full)
      fs.writeFileSync(full, content)
      fs.chmodSync(full, mode)
    },
    remove: () => fs.rmSync(root, { recursive: true, force: true }),
  }
  return machine
}

function layOutStates(layout: Layout, wishes: Readonly<Record<string, Wish>>): WantedEtc {
  const entries = Object.entries(wishes)
    .map(([target, wish], index) => layOutWish(layout, t(target), wish, index))
    .sort((a, b) => byName(a.target, b.target))
  const etcState = fakeState('etc', canonicalJson(JSON.parse(JSON.stringify(entries))))
  const tree = join(layout.states, etcState, 'etc')
  makeDirectories(realFiles, tree)
  for (const entry of entries) {
    const path = join(tree, entry.target)
    makeDirectories(realFiles, dirname(path))
    const text = 'state' in entry ? relative(dirname(path), join(layout.states, entry.state, entry.source)) : entry.text
    if (!fs.lstatSync(path, { throwIfNoEntry: false })) fs.symlinkSync(text, path)
  }
  return { etcState, entries }
}

function layOutWish(layout: Layout, target: EtcTarget, wish: Wish, index: number): EtcEntry {
  const { replaceExisting } = wish
  const common = {
    target,
    from: 'demo',
    declaredAt: `packageByNames.demo.etcFiles[${index}]`,
    ...(replaceExisting ? { replaceExisting } : {}),
  }
  if ('direct' in wish) return { kind: 'direct', ...common, text: wish.direct }
  const content = 'tree' in wish ? JSON.stringify(wish.tree) : wish.text
  const state = fakeState('demo', content)
  const source = 'tree' in wish ? 'tree' : 'file'
  const files = 'tree' in wish ? Object.entries(wish.tree) : [['', wish.text] as const]
  for (const [name, text] of files) {
    const path = join(layout.states, state, source, name)
    fs.mkdirSync(dirname(path), { recursive: true })
    fs.writeFileSync(path, text)
  }
  const placed = { ...common, state, source, sha256: sha256Hex(content) as Sha256 }
  if ('tree' in wish || (wish.mode === undefined && wish.owner === undefined)) return { kind: 'link', ...placed }
  const owner = wish.owner === undefined ? {} : { owner: wish.owner }
  return { kind: 'copy', ...placed, mode: wish.mode ?? 0o644, ...owner }
}

/** Names, kinds, bytes, modes, owners; times of files unless their path is left out. */
export function snapshotEtc(
  layout: Layout,
  { timesOf = () => true }: { timesOf?: (path: string) => boolean } = {},
): string[] {
  const lines: string[] = []
  const walk = (directory: string) => {
    for (const name of fs.readdirSync(directory).sort()) {
      const path = join(directory, name)
      const shown = relative(layout.etc, path)
      const stats = fs.lstatSync(path)
      const common = `${shown} ${(stats.mode & 0o7777).toString(8)} ${stats.uid}:${stats.gid}`
      const time = timesOf(shown) ? ` ${stats.mtimeMs}` : ''
      if (stats.isSymbolicLink()) lines.push(`link ${common} -> ${fs.readlinkSync(path)}`)
      else if (stats.isFile()) lines.push(`file ${common}${time} ${fs.readFileSync(path, 'utf8')}`)
      else if (stats.isDirectory()) {
        lines.push(`directory ${common}`)
        walk(path)
      } else lines.push(`special ${common}`)
    }
  }
  walk(layout.etc)
  return lines
}
