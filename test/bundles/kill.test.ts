// kill -9 of the server while clients change stacks, at random moments and inside of commits. After each it is started again
// on the same data: what was acknowledged is there, nothing is half there, and the next change works.
// Seed and counts are printed. CAIRN_SEED repeats the states and the choice of moments (not the machine's timing), CAIRN_RUNS
// sets the number of kills.
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createStack } from '../../src/server/contract/stacks.ts'
import { describeWith } from '../require.ts'
import { checkAll } from './kill-check.ts'
import { type Clients, change, drive, type Happening, type Slot } from './kill-client.ts'
import { type Moment, postgresMoments, sqliteMoments } from './kill-moments.ts'
import { type DatabaseKind, type Ground, openGround, type TestServer, until } from './server.ts'

const wanted = Number(process.env.CAIRN_RUNS ?? 200)
const seed = Number(process.env.CAIRN_SEED ?? Math.floor(Math.random() * 1e9))
/** Servers at the same time, with a database each. */
const lanes = 2
const latestMs = 60_000

const shares = {
  sqlite: { kills: Math.ceil(wanted * 0.7), moments: sqliteMoments },
  postgres: { kills: Math.ceil(wanted * 0.3), moments: postgresMoments },
} as const

for (const kind of ['sqlite', 'postgres'] as const)
  describeWith(kind === 'postgres' ? ['postgres'] : ['strace'], `a server on ${kind} that is killed`, () => {
    let ground: Ground
    beforeAll(async () => {
      ground = await openGround(kind)
    })
    afterAll(() => ground?.remove())

    const { kills, moments } = shares[kind]
    it(`loses nothing it acknowledged and leaves nothing half done, ${kills} times (seed ${seed})`, {
      timeout: 1_200_000,
    }, async () => {
      const total: Totals = { kills: {}, acknowledged: 0, done: 0, notDone: 0 }
      const numbers = Array.from({ length: kills }, (_, number) => number)
      const choices = Object.entries(moments)
      await Promise.all(
        Array.from({ length: lanes }, async (_, lane) => {
          const random = generator(seed + lane * 7919 + kind.length)
          const life = await beginLane(ground, kind, random)
          for (let number = numbers.shift(); number !== undefined; number = numbers.shift()) {
            const [name, moment] = choices[number % choices.length] as [string, Moment]
            await killOnce(life, moment, total, `seed ${seed}, kill ${number}, ${name}`)
            total.kills[name] = (total.kills[name] ?? 0) + 1
          }
        }),
      )
      console.log(`seed ${seed}, ${kind}: ${JSON.stringify(total)}`)
      expect(Object.values(total.kills).reduce((one, other) => one + other, 0)).toBe(kills)
      expect(total.acknowledged).toBeGreaterThan(kills)
      if (kills < 2 * choices.length) return
      // Both ways of ending are met, so the moments are where they should be.
      expect(total.done).toBeGreaterThan(0)
      expect(total.notDone).toBeGreaterThan(0)
    })
  })

interface Totals {
  readonly kills: Record<string, number>
  acknowledged: number
  /** Of what was under way. */
  done: number
  notDone: number
}

interface Lane {
  readonly kind: DatabaseKind
  readonly server: TestServer
  readonly slots: readonly Slot[]
  readonly random: () => number
  newNumber(): number
}

async function beginLane(ground: Ground, kind: DatabaseKind, random: () => number): Promise<Lane> {
  const server = await ground.startServer()
  let number = 0
  const slots = ['alpha', 'beta', 'gamma', 'delta'].map(
    (stack): Slot => ({ stack, comesAndGoes: stack === 'delta', found: null, changes: [] }),
  )
  const lane = { kind, server, slots, random, newNumber: () => ++number }
  for (const slot of slots) {
    if (!slot.comesAndGoes) await server.client.call(createStack, { body: { name: slot.stack } })
    await change(clientsOf(lane), slot)
  }
  await checkAll(server, slots, `seed ${seed}, before the first kill`)
  return lane
}

const clientsOf = ({ server, random, newNumber }: Lane, happens: Clients['happens'] = () => {}): Clients => ({
  url: server.url,
  token: server.adminToken,
  random,
  newNumber,
  happens,
})

async function killOnce(lane: Lane, moment: Moment, total: Totals, where: string) {
  const { kind, server, slots, random } = lane
  const pid = server.pid()
  const dead = new AbortController()
  const death = died(pid).then(() => dead.abort())
  const happenings = countHappenings()
  const coming = await moment({ server, random, happened: happenings.happened, dead: dead.signal })

  let over = false
  const clients = clientsOf(lane, happenings.happens)
  // The first stack has two clients, which wait for each other.
  const driven = [...slots, slots[0] as Slot].map(slot => drive(clients, slot, () => over))
  // What refuses a change is told, not waited for.
  const late = delay(latestMs, 'late', { ref: false })
  const came = await Promise.race([coming.here, death, Promise.all(driven), late])
  if (came === 'late') throw new Error(`${where}: the moment did not come`)
  over = true
  if (!isDead(pid)) process.kill(pid, 'SIGKILL')
  // One that ends by itself has a code of its own.
  expect(await server.stop(), `${where}\n${server.log()}`).toBe(-1)
  await death
  await Promise.all(driven)
  await coming.release?.()
  if (kind === 'postgres') await nobodyIn(server)

  total.acknowledged += slots.flatMap(slot => slot.changes.filter(({ acknowledged }) => acknowledged)).length
  const unsure = slots.filter(slot => slot.changes.some(({ acknowledged }) => !acknowledged))
  await server.start()
  if (kind === 'postgres') await leasesRunOut(server, where)
  const ended = await checkAll(server, slots, where)
  total.done += ended.done
  total.notDone += ended.notDone
  const next = unsure[Math.floor(random() * unsure.length)] ?? (slots[0] as Slot)
  if (!(await change(clientsOf(lane), next))) throw new Error(`${where}: the server was lost\n${server.log()}`)
}

function countHappenings() {
  const counts: Record<Happening, number> = { sent: 0, running: 0, done: 0, answered: 0 }
  const waiting: { what: Happening; count: number; resolve: () => void }[] = []
  return {
    happens: (what: Happening) => {
      counts[what]++
      for (const wish of waiting) if (wish.what === what && wish.count === counts[what]) wish.resolve()
    },
    happened: (what: Happening, count: number) => new Promise<void>(resolve => waiting.push({ what, count, resolve })),
  }
}

async function died(pid: number) {
  while (!isDead(pid)) await delay(5)
}

function isDead(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return false
  } catch {
    return true
  }
}

/** PostgreSQL may be about to commit what a dead server sent last. */
const nobodyIn = ({ query }: TestServer) =>
  until('PostgreSQL has noticed the death', async () => {
    const rows = await query(
      `select 1 from pg_stat_activity where application_name = 'cairn' and datname = current_database()`,
    )
    return rows.length === 0
  })

/** Other servers could be alive, so a lock stays for as long as it was taken for. That time passes here. */
async function leasesRunOut({ query }: TestServer, where: string) {
  const rows = (await query('select expires_at from leases where holder is not null')) as { expires_at: string }[]
  for (const { expires_at } of rows) expect(Date.parse(expires_at), where).toBeLessThan(Date.now() + 31_000)
  await query(`update leases set expires_at = '2000-01-01T00:00:00.000Z' where holder is not null`)
}

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
