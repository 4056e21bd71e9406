// kill -9 of the downloader, the verifier, the manager and the whole supervisor at random moments, while machines fetch,
// verify and make volumes. Afterwards everything is there, the disks are as those of a machine that nobody disturbed, and
// nothing that was finished was fetched again. Counts and seed are printed; CAIRN_SEED repeats a run, CAIRN_KILLS makes it
// longer.
import { createHash } from 'node:crypto'
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type ProcessName, processNames } from '../../src/content/messages.ts'
import { type ContentMachine, type Daemon, installCairn, namesIn, type Program, until } from './faults-machine.ts'
import { watchVerified } from './faults-verified.ts'
import { type Gate, serveWork, type Work } from './kill-work.ts'

const wanted = Number(process.env.CAIRN_KILLS ?? 200)
const seed = Number(process.env.CAIRN_SEED ?? Math.floor(Math.random() * 1e9))
/** Of one machine; the bytes it waits for are let out as it is killed. */
const perMachine = 25
/** Machines at the same time. */
const atOnce = 4
/** More often in one life of the supervisor, and a process is left alone for seconds before it is started again. */
const perLife = 3

type Victim = ProcessName | 'supervisor'
type Kills = Record<Victim, number>

let program: Program
let work: Work
beforeAll(async () => {
  program = await installCairn()
  work = await serveWork()
})
afterAll(async () => {
  await work?.close()
  await program?.remove()
})

it(`${wanted} kills lose nothing, and nothing is fetched or made twice (seed ${seed})`, {
  timeout: 900_000,
}, async () => {
  const undisturbed = await undisturbedTree()
  const machines = Array.from({ length: Math.ceil(wanted / perMachine) }, (_, at) => at)
  const total: Kills = { downloader: 0, verifier: 0, manager: 0, supervisor: 0 }
  const turn = async () => {
    for (let at = machines.shift(); at !== undefined; at = machines.shift()) {
      const where = `seed ${seed}, machine ${at}`
      const { kills, tree } = await disturbed(at, where)
      for (const victim of Object.keys(kills) as Victim[]) total[victim] += kills[victim]
      expect(tree, where).toEqual(undisturbed)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, turn))
  console.log(
    `seed ${seed}, kills: ${Object.entries(total)
      .map(([victim, count]) => `${victim} ${count}`)
      .join(', ')}`,
  )
  expect(Object.values(total).reduce((one, other) => one + other)).toBeGreaterThanOrEqual(wanted)
  for (const count of Object.values(total)) expect(count).toBeGreaterThan(0)
})

async function undisturbedTree() {
  const machine = program.machine()
  const gate = work.join(machine, 'undisturbed')
  gate.open(1)
  const daemon = await machine.daemon()
  await gate.ask()
  await gate.done()
  await collect(machine)
  await daemon.stop()
  expect([...gate.asked.values()].every(count => count === 1)).toBe(true)
  return treeOf(machine)
}

async function disturbed(at: number, where: string) {
  const machine = program.machine()
  const watch = watchVerified(machine.layout.verified)
  const gate = work.join(machine, `machine-${at}`)
  const kills = await killing(machine, gate, generator(seed + at))
  expect(watch.end(), where).toEqual([])
  expect(watch.seen, where).toBeGreaterThan(5)
  expect(gate.needless, where).toEqual([])
  // Only the death of the one who fetches is a reason to ask again.
  for (const [sha256, count] of gate.asked)
    expect(count, `${where}: ${sha256}`).toBeLessThanOrEqual(1 + kills.downloader + kills.supervisor)
  return { kills, tree: treeOf(machine) }
}

/** Leaves a machine that has all it was asked for, and that nothing runs on. */
async function killing(machine: ContentMachine, gate: Gate, random: () => number): Promise<Kills> {
  const kills: Kills = { downloader: 0, verifier: 0, manager: 0, supervisor: 0 }
  let thisLife: Kills = { ...kills }
  let daemon = await machine.daemon()
  try {
    await gate.ask()
    for (let count = 0; count < perMachine; count++) {
      gate.open((count + 1) / perMachine)
      // Often in the middle of what the new bytes bring about, else when it is over.
      await delay(random() * (random() < 0.6 ? 60 : 400))
      const victim = chosen(thisLife, random)
      await notDeadly(machine, victim)
      await kill(daemon, victim)
      kills[victim]++
      thisLife[victim]++
      if (victim !== 'supervisor') continue
      thisLife = { downloader: 0, verifier: 0, manager: 0, supervisor: 0 }
      daemon = await machine.daemon()
    }
    await gate.done()
    await collect(machine)
  } catch (error) {
    throw new Error(`${error}\n${JSON.stringify(kills)}\n${daemon.log}`)
  } finally {
    await daemon.stop()
  }
  return kills
}

/** What was on its way out when its process died would stay until its time; this does not wait for it. */
async function collect(machine: ContentMachine) {
  expect(await machine.cairn('content', 'gc')).toMatchObject({ code: 0 })
}

function chosen(thisLife: Kills, random: () => number): Victim {
  const left = processNames.filter(name => thisLife[name] < perLife)
  if (left.length === 0 || random() < 0.05) return 'supervisor'
  return left[Math.floor(random() * left.length)]!
}

/** The verifier leaves a file alone for an hour on which it has died three times; that has a test of its own. */
const notDeadly = ({ layout }: ContentMachine, victim: Victim) =>
  until(
    'no file is at its last chance',
    () =>
      !['verifier', 'supervisor'].includes(victim) ||
      !namesIn(layout.verifier).some(name => /^working\.\w+\.[2-9]/.test(name)),
  )

async function kill(daemon: Daemon, victim: Victim) {
  if (victim === 'supervisor') return daemon.kill()
  const pid = await until(`the ${victim} lives`, () => daemon.processes().get(victim))
  process.kill(pid as number, 'SIGKILL')
  await until(`the ${victim} is dead`, () => daemon.processes().get(victim) !== pid)
}

/** All that has to be equal: names, kinds, modes, owners, sizes and bytes; times are left out where they are written down. */
function treeOf({ layout }: ContentMachine): Record<string, string> {
  const lines = (['pending', 'verified', 'quarantine', 'volumes', 'manager', 'requests'] as const).flatMap(name =>
    (readdirSync(layout[name], { recursive: true }) as string[]).map(path => [
      join(name, path),
      described(join(layout[name], path)),
    ]),
  )
  // How a verified file looked when it was hashed is another matter on each machine.
  return { ...Object.fromEntries(lines), verifier: namesIn(layout.verifier).join() }
}

function described(path: string): string {
  const stats = lstatSync(path)
  const common = `${(stats.mode & 0o7777).toString(8)} ${stats.uid}:${stats.gid}`
  if (stats.isSymbolicLink()) return `link -> ${readlinkSync(path)}`
  if (!stats.isFile()) return `${(stats.mode & 0o170000).toString(8)} ${common}`
  const bytes = readFileSync(path)
  if (path.endsWith('.json') && stats.size < 10_000) return `file ${common} ${withoutTimes(bytes.toString())}`
  return `file ${common} ${stats.size} ${createHash('sha256').update(bytes).digest('hex')}`
}

const withoutTimes = (text: string): string =>
  text.replace(/"\d{4}-\d\d-\d\dT[\d:.]+Z"/g, '"a time"').replace(/"monotonic":[\d.]+/, '"monotonic":0')

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
function generator(start: number): () => number {
  let state = start >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
