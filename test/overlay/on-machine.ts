// Cairn on a booted machine as a story tells it: one config that changes from step to step, systemd asked about the result.
import { once } from 'node:events'
import { createConnection, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { OverlayConfig, PackageConfig, UnitConfig } from '../../src/resources/overlay-config.ts'
import type { Machine } from '../machine/machine.ts'
import type { Finished } from '../machine/process.ts'

type Listed = readonly { readonly name: string; readonly reason: string }[]

interface Applied {
  readonly code: number
  readonly outcome: string
  readonly generation: number
  readonly units: Readonly<Record<'start' | 'stop' | 'restart' | 'reload' | 'skip', Listed>>
  readonly failed: readonly { readonly name: string; readonly reason: string; readonly log: readonly string[] }[]
  readonly notes: readonly string[]
}

/** A text alone is the unit's template; null takes the unit or the package away. */
export interface Changes {
  readonly units?: Readonly<Record<string, string | UnitConfig | null>>
  readonly packages?: Readonly<Record<string, PackageConfig | null>>
}

export interface Story {
  cairn(args: readonly string[]): Promise<Finished>
  /** Writes the config so far with these changes, which stay, and returns the command that applies it. */
  applyCommand(changes: Changes): Promise<string[]>
  apply(changes: Changes, options?: { flags?: readonly string[]; env?: Record<string, string> }): Promise<Applied>
  show(unit: string, property: string): Promise<string>
  stateOf(unit: string): Promise<string>
  pidOf(unit: string): Promise<string>
  /** No switch is open and nobody holds the lock any more. */
  isSettled(): Promise<boolean>
}

const program = '/opt/cairn/bin/cairn'
const configFile = '/root/overlay.json'

export function storyOn(machine: Machine): Story {
  let config: OverlayConfig = { version: 'v1', packageByNames: {}, systemdUnitsByName: {} }

  const applyCommand: Story['applyCommand'] = async ({ units = {}, packages = {} }) => {
    config = {
      ...config,
      packageByNames: present({ ...config.packageByNames, ...packages }),
      systemdUnitsByName: present({ ...config.systemdUnitsByName, ...mapped(units, unitOf) }),
    }
    await machine.writeFile(configFile, JSON.stringify(config))
    return [program, 'node', 'apply', '-f', configFile]
  }
  const show: Story['show'] = async (unit, property) =>
    (await machine.exec(['systemctl', 'show', '-P', property, '--', unit])).stdout.trim()

  return {
    cairn: args => machine.exec([program, 'node', ...args]),
    applyCommand,
    async apply(changes, { flags = [], env = {} } = {}) {
      const command = await applyCommand(changes)
      const { code, stdout, stderr } = await machine.exec([...command, '--json', ...flags], { env })
      const report = JSON.parse(stdout || 'null') as Applied | { error: object } | null
      if (!report || 'error' in report) throw new Error(`apply ended with ${code}: ${stdout}${stderr}`)
      return { ...report, code }
    },
    show,
    stateOf: unit => show(unit, 'ActiveState'),
    pidOf: unit => show(unit, 'MainPID'),
    isSettled: async () =>
      (await machine.exec(['ls', '/cairn/journal'])).stdout === '' &&
      (await machine.exec(['flock', '-n', '/cairn/locks/apply', 'true'])).code === 0,
  }
}

/** A service that runs until it is stopped, wanted by multi-user.target, with more lines in [Service]. */
export const daemon = (...lines: readonly string[]): string =>
  `[Service]\nExecStart=/bin/sleep infinity\n${lines.map(line => `${line}\n`).join('')}[Install]\nWantedBy=multi-user.target\n`

export const names = (units: Listed): string[] => units.map(({ name }) => name)

export async function until(what: string, holds: () => Promise<boolean>) {
  for (const deadline = Date.now() + 60_000; !(await holds()); await delay(50))
    if (Date.now() > deadline) throw new Error(`after a minute it does not hold that ${what}`)
}

/** Throws ECONNREFUSED where nobody listens any more. */
export async function connectTo(machine: Machine, path: string): Promise<Socket> {
  const client = createConnection(`/proc/${machine.leader()}/root${path}`)
  await once(client, 'connect')
  client.on('error', () => {}) // cut off: who still reads gets to know
  return client
}

const unitOf = (unit: string | UnitConfig | null): UnitConfig | null =>
  typeof unit === 'string' ? { version: '1', templateInline: unit } : unit

function mapped<A, B>(record: Readonly<Record<string, A>>, make: (value: A) => B): Record<string, B> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, make(value)]))
}

const present = <T>(record: Readonly<Record<string, T | null>>): Record<string, T> =>
  Object.fromEntries(Object.entries(record).filter((entry): entry is [string, T] => entry[1] !== null))
