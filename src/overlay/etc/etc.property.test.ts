// Whatever stood in /etc before: after any row of applies and an uninstall it stands there again, byte for byte.
// And at whichever call an apply fails or is killed, undoing gives the old /etc, and going on gives the new one.
import * as fs from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { Crash, type FaultPlan, faultyFiles } from '../../lib/files.fake.ts'
import { applyEtc } from './apply.ts'
import type { OwnedEtc } from './entry.ts'
import { ownsNothing } from './entry.ts'
import { type FakeMachine, fakeMachine, noEtc, snapshotEtc, unsynced, type Wish } from './etc.fake.ts'
import { ownedBetween, type WantedEtc, wantedAgain } from './owned.ts'
import type { EtcPlan } from './plan.ts'
import { undoEtc } from './undo.ts'

const parameters = process.env.CAIRN_SEED ? { seed: Number(process.env.CAIRN_SEED) } : {}

let machines: FakeMachine[] = []
const newMachine = () => {
  const machine = fakeMachine()
  machines.push(machine)
  return machine
}
afterEach(() => {
  for (const machine of machines) machine.remove()
  machines = []
})

// Few names, so that targets meet each other, foreign things, and directories that were entries a moment ago.
const part = fc.constantFrom('a', 'b', 'c.d', '.h')
const path = fc.array(part, { minLength: 1, maxLength: 3 }).map(parts => parts.join('/'))
const text = fc.constantFrom('one\n', 'two\n', 'three\n')

const wish: fc.Arbitrary<Wish> = fc
  .tuple(
    fc.oneof(
      { weight: 4, arbitrary: fc.record({ text }) },
      { weight: 2, arbitrary: fc.record({ text, mode: fc.constantFrom(0o600, 0o644, 0o755) }) },
      { weight: 1, arbitrary: fc.record({ direct: fc.constantFrom('/dev/null', 'b', '../x') }) },
      { weight: 1, arbitrary: fc.record({ tree: fc.dictionary(part, text, { minKeys: 1, maxKeys: 2 }) }) },
    ),
    fc.constantFrom({}, { replaceExisting: true as const }),
  )
  .map(([what, flag]) => ({ ...what, ...flag }))

/** No target lies below another. */
const manifest = fc
  .array(fc.tuple(path, wish), { maxLength: 6 })
  .map(pairs => Object.fromEntries(pairs))
  .map(wishes => {
    const targets = Object.keys(wishes)
    return Object.fromEntries(
      Object.entries(wishes).filter(([target]) => !targets.some(other => target.startsWith(`${other}/`))),
    )
  })

type Foreign = { path: string } & ({ text: string; mode: number } | { link: string } | { directory: true })

const foreign: fc.Arbitrary<Foreign[]> = fc.array(
  fc
    .tuple(
      path,
      fc.oneof(
        fc.record({ text: fc.constantFrom('mine\n', 'one\n', ''), mode: fc.constantFrom(0o600, 0o644) }),
        fc.record({ link: fc.constantFrom('/dev/null', 'nowhere', 'a') }),
        fc.record({ directory: fc.constant(true as const) }),
      ),
    )
    .map(([at, what]) => ({ path: at, ...what }) as Foreign),
  { maxLength: 5 },
)

function layForeign(machine: FakeMachine, things: Foreign[]) {
  for (const thing of things) {
    const full = join(machine.layout.etc, thing.path)
    try {
      if ('text' in thing) machine.write(thing.path, thing.text, thing.mode)
      else if ('directory' in thing) fs.mkdirSync(full, { recursive: true })
      else if ('link' in thing) fs.symlinkSync(thing.link, full)
    } catch {
      // Another one is in the way; any tree will do.
    }
  }
}

/** The manifest without the entries that stand in conflict. */
function withoutConflicts(machine: FakeMachine, wishes: Record<string, Wish>, owned: OwnedEtc): EtcPlan {
  const plan = machine.plan(machine.want(wishes), owned)
  if (plan.problems.length === 0) return plan
  const refused = new Set<string>(plan.summary.conflict.map(({ target }) => target))
  expect(refused.size).toBeGreaterThan(0)
  const rest = Object.entries(wishes).filter(([target]) => !refused.has(target))
  return withoutConflicts(machine, Object.fromEntries(rest), owned)
}

const wantedOf = ({ owned }: EtcPlan): WantedEtc => ({ etcState: owned.etcState, entries: owned.entries })

describe('any row of applies, then an uninstall', () => {
  it('gives /etc back byte for byte, and each apply done twice has nothing left to do', () => {
    fc.assert(
      fc.property(foreign, fc.array(manifest, { minLength: 1, maxLength: 10 }), (things, manifests) => {
        const machine = newMachine()
        layForeign(machine, things)
        const before = snapshotEtc(machine.layout)
        let owned = ownsNothing
        for (const wishes of manifests) {
          const plan = withoutConflicts(machine, wishes, owned)
          owned = machine.carryOut(plan)
          const again = machine.plan(wantedOf(plan), owned)
          expect([again.problems, again.before, again.switch, again.after]).toEqual([[], [], [], []])
          expect(again.owned).toEqual(owned)
          expectInPlace(machine, owned)
        }
        owned = machine.apply(noEtc, owned)
        expect(snapshotEtc(machine.layout)).toEqual(before)
        expect(owned).toEqual(ownsNothing)
        expect(fs.readdirSync(machine.layout.backups)).toEqual([])
        expect(fs.existsSync(machine.layout.static)).toBe(false)
        machine.remove()
      }),
      { numRuns: 25, ...parameters },
    )
  }, 120_000)
})

function expectInPlace({ layout }: FakeMachine, { entries }: OwnedEtc) {
  for (const entry of entries) {
    const live = join(layout.etc, entry.target)
    if (entry.kind === 'direct') expect(fs.readlinkSync(live)).toBe(entry.text)
    else if (entry.kind === 'copy') expect(fs.lstatSync(live).mode & 0o7777).toBe(entry.mode)
    if (entry.kind === 'direct') continue
    const stored = join(layout.states, entry.state, entry.source)
    if (fs.statSync(stored).isFile()) expect(fs.readFileSync(live, 'utf8')).toBe(fs.readFileSync(stored, 'utf8'))
    else expect(fs.readdirSync(live)).toEqual(fs.readdirSync(stored))
  }
}

describe('an apply that fails or is killed at any call', () => {
  const parts = (plan: EtcPlan) => [...plan.before, ...plan.switch, ...plan.after]

  /** Two machines in the same state, and the plan from one manifest to the next. */
  const scene = (things: Foreign[], first: Record<string, Wish>, second: Record<string, Wish>) => {
    const machine = newMachine()
    layForeign(machine, things)
    const former = withoutConflicts(machine, first, ownsNothing)
    const owned = machine.carryOut(former)
    const plan = withoutConflicts(machine, second, owned)
    const copies = new Set<string>(
      [...owned.entries, ...plan.owned.entries].filter(({ kind }) => kind === 'copy').map(({ target }) => target),
    )
    const snapshot = () => snapshotEtc(machine.layout, { timesOf: path => !copies.has(path) })
    return { machine, former, owned, plan, snapshot }
  }

  const arbitraryScene = fc.tuple(foreign, manifest, manifest)
  const faults = (at: number): FaultPlan[] => [{ crashAt: at }, { failAt: at, code: 'ENOSPC' }]

  const runUntilFault = (machine: FakeMachine, plan: EtcPlan, fault: FaultPlan): boolean => {
    const files = faultyFiles(unsynced, fault)
    try {
      machine.carryOut(plan, files)
      return false
    } catch (error) {
      if (error instanceof Crash || (error instanceof Error && /injected/.test(error.message))) return true
      throw error
    }
  }

  it('is undone to the old /etc, or finished to the new one', () => {
    fc.assert(
      fc.property(arbitraryScene, ([things, first, second]) => {
        const { machine, plan, snapshot } = scene(things, first, second)
        const { layout } = machine
        const old = snapshot()
        for (let at = 1; ; at++) {
          let faulted = false
          for (const fault of faults(at)) {
            faulted = runUntilFault(machine, plan, fault)
            undoEtc(parts(plan), { files: unsynced, layout })
            expect(snapshot(), `undone after ${JSON.stringify(fault)}`).toEqual(old)
            undoEtc(parts(plan), { files: unsynced, layout })
            expect(snapshot(), 'undone twice').toEqual(old)
          }
          if (!faulted) break
        }
        machine.carryOut(plan)
        const fresh = snapshot()
        undoEtc(parts(plan), { files: unsynced, layout })
        for (let at = 1; runUntilFault(machine, plan, { crashAt: at }); at++) {
          applyEtc(parts(plan), { files: unsynced, layout })
          expect(
            snapshot().filter(line => !line.includes('.cairn-tmp-')),
            `finished after call ${at}`,
          ).toEqual(fresh)
          undoEtc(parts(plan), { files: unsynced, layout })
        }
        machine.remove()
      }),
      { numRuns: 6, ...parameters },
    )
  }, 120_000)

  it('leads back by a new plan from what either generation owns', () => {
    fc.assert(
      fc.property(arbitraryScene, ([things, first, second]) => {
        const { machine, owned, plan, snapshot } = scene(things, first, second)
        const old = snapshot()
        for (let at = 1, faulted = true; faulted; at++) {
          faulted = runUntilFault(machine, plan, { crashAt: at })
          const back = machine.plan(wantedAgain(owned), ownedBetween(owned, plan.owned))
          const reached = machine.carryOut(back)
          expect(snapshot(), `back after call ${at}`).toEqual(old)
          expect(reached.directories, 'directories').toEqual(owned.directories)
          expect(reached.backups.map(({ target }) => target)).toEqual(owned.backups.map(({ target }) => target))
        }
        machine.remove()
      }),
      { numRuns: 6, ...parameters },
    )
  }, 120_000)
})
